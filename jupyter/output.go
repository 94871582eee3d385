package jupyter

import (
	"encoding/json"
	"fmt"
)

// Stream is text that a cell wrote to "stdout" or "stderr".
type Stream struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Display is something to show, by media type: text values are JSON strings, application/json is any JSON.
type Display struct {
	Data           map[string]json.RawMessage `json:"data"`
	Metadata       json.RawMessage            `json:"metadata"`
	Transient      json.RawMessage            `json:"transient"`
	ExecutionCount int                        `json:"execution_count"` // of an execute_result, else 0
}

// Text returns the value of a media type if it is text.
func (d Display) Text(mediaType string) (string, bool) {
	var s *string
	if json.Unmarshal(d.Data[mediaType], &s) != nil || s == nil {
		return "", false
	}
	return *s, true
}

// Exception is what a cell ended with.
type Exception struct {
	Name      string   `json:"ename"`
	Value     string   `json:"evalue"`
	Traceback []string `json:"traceback"`
}

func (e *Exception) Error() string { return fmt.Sprintf("%s: %s", e.Name, e.Value) }

// Stream returns the text of a stream message; false for another kind.
func (m Message) Stream() (Stream, bool) { return contentOf[Stream](m, "stream") }

// Display returns the content of display_data, update_display_data and execute_result; false for another kind.
func (m Message) Display() (Display, bool) {
	return contentOf[Display](m, "display_data", "update_display_data", "execute_result")
}

// Exception returns the content of an error output; false for another kind.
func (m Message) Exception() (Exception, bool) { return contentOf[Exception](m, "error") }

// Status returns busy, idle or starting of a status message; false for another kind.
func (m Message) Status() (string, bool) {
	s, ok := contentOf[struct {
		State string `json:"execution_state"`
	}](m, "status")
	return s.State, ok
}

// ClearOutput says whether the message asks to clear what was shown, and whether only when the next output comes.
func (m Message) ClearOutput() (wait, ok bool) {
	c, ok := contentOf[struct {
		Wait bool `json:"wait"`
	}](m, "clear_output")
	return c.Wait, ok
}

func contentOf[T any](m Message, kinds ...string) (content T, ok bool) {
	for _, kind := range kinds {
		if m.Header.Type == kind {
			return content, json.Unmarshal(m.Content, &content) == nil
		}
	}
	return content, false
}
