package cli

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// transcript is a section of a page of docs/: files that it tells to make, and commands with what they print.
type transcript struct {
	name  string
	files map[string]string
	steps []step
}

// step is one command. In its output the character … stands for whatever differs from machine to machine.
type step struct{ command, output string }

var fileName = regexp.MustCompile("`([^`]+)`:$")

// transcripts reads the sections of a page that have a block "console". A block of another language whose paragraph before ends with a name and a colon is
// a file.
func transcripts(page string) []transcript {
	var list []transcript
	for _, section := range strings.Split(page, "\n## ")[1:] {
		name, text, _ := strings.Cut(section, "\n")
		t := transcript{name: name, files: map[string]string{}}
		before := ""
		for at, part := range strings.Split(text, "```") {
			language, block, _ := strings.Cut(part, "\n")
			file := fileName.FindStringSubmatch(strings.TrimSpace(before))
			switch {
			case at%2 == 0:
			case language == "console":
				t.steps = append(t.steps, stepsOf(block)...)
			case file != nil:
				t.files[file[1]] = block
			}
			before = part
		}
		if len(t.steps) > 0 {
			list = append(list, t)
		}
	}
	return list
}

// stepsOf reads "$ " before a command and "> " before its further lines.
func stepsOf(block string) (list []step) {
	for line := range strings.Lines(block) {
		command, begins := strings.CutPrefix(line, "$ ")
		more, goesOn := strings.CutPrefix(line, "> ")
		switch {
		case begins:
			list = append(list, step{command: command})
		case goesOn && list[len(list)-1].output == "":
			list[len(list)-1].command += more
		default:
			list[len(list)-1].output += line
		}
	}
	return list
}

// printed says whether a command has printed what its page shows. A header that a client shows as it came ends in \r.
func (s step) printed(text string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(s.output)), "…", ".*")
	return regexp.MustCompile(`(?s)^` + pattern + `$`).MatchString(strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")))
}

// script runs the commands one after the other, each with its output and status in files of the folder out.
func (t transcript) script() string {
	var b strings.Builder
	for i, s := range t.steps {
		fmt.Fprintf(&b, "{\n%s} >out/%d 2>&1 </dev/null\necho $? >out/%d.status\n", s.command, i, i)
	}
	return b.String()
}

func TestTranscripts(t *testing.T) {
	list := transcripts("# Page\n\n## a\n\nMake `b.txt`:\n\n```text\n$ no command\n```\n\nthen\n\n```console\n$ one \\\n> two\nout … end\n> quoted\n$ three\n```\n\n## b\n\n```yaml\nx: 1\n```\n")
	require.Len(t, list, 1)
	assert.Equal(t, "a", list[0].name)
	assert.Equal(t, map[string]string{"b.txt": "$ no command\n"}, list[0].files)
	assert.Equal(t, []step{{"one \\\ntwo\n", "out … end\n> quoted\n"}, {"three\n", ""}}, list[0].steps)
	one := list[0].steps[0]
	assert.True(t, one.printed("out 1\r\n2 end\n> quoted\n"))
	assert.False(t, one.printed("out 1 end"))
	assert.False(t, one.printed("before\nout 1 end\n> quoted"))
	assert.False(t, list[0].steps[1].printed("anything"))
}
