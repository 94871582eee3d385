package envs

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/kernel-launch/kernel-launch/restart"
)

const (
	historyName = "history.jsonl"
	historyMost = 256 << 20
)

// HistoryEntry is one change of an environment, with what it was afterwards: enough to make that state again.
type HistoryEntry struct {
	ID         string          `json:"id"`
	Time       time.Time       `json:"time"`
	Generation int             `json:"generation"`
	Plan       string          `json:"plan,omitempty"`
	Changes    restart.Changes `json:"changes"`
	Requested  []string        `json:"requested"`
	Owned      []Owned         `json:"owned"`
}

// History lists the changes of the environment, the oldest first. A line that was cut off by a crash is left out.
func (e *Environment) History() ([]HistoryEntry, error) {
	data, err := readHistory(e.dir)
	if err != nil {
		return nil, err
	}
	var list []HistoryEntry
	for line := range bytes.Lines(data) {
		var h HistoryEntry
		if json.Unmarshal(line, &h) == nil && h.ID != "" {
			list = append(list, h)
		}
	}
	return list, nil
}

func readHistory(dir string) ([]byte, error) {
	f, err := os.Open(filepath.Join(dir, historyName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, historyMost))
}

// appendHistory adds a line unless it is there: a change that is finished after a crash is written down once.
func appendHistory(dir string, h HistoryEntry) error {
	data, err := readHistory(dir)
	if err != nil {
		return err
	}
	line, err := json.Marshal(h)
	if err != nil {
		return err
	}
	line = append(line, '\n')
	if bytes.HasSuffix(data, line) {
		return nil
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		line = append([]byte{'\n'}, line...) // closes a line that was cut off
	}
	f, err := os.OpenFile(filepath.Join(dir, historyName), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(line)
	return errors.Join(err, f.Close())
}
