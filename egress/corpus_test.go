package egress

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// corpusRow is one raw request with the outcome to demand.
type corpusRow struct {
	ID      string `json:"id"`
	Want    string `json:"want"`
	Why     string `json:"why"`
	Connect bool   `json:"connect"`
	Raw     []byte `json:"raw_b64"`
}

func corpus(t testing.TB) []corpusRow {
	data, err := os.ReadFile("../testdata/cases/egress-corpus.json")
	require.NoError(t, err)
	var rows []corpusRow
	require.NoError(t, json.Unmarshal(data, &rows))
	require.NotEmpty(t, rows)
	return rows
}

var otherWant = regexp.MustCompile(`\bor (BAD|DENY|OPEN|\d{3})\b|\b(BAD) (?:is fine|also)`)

// wants lists every outcome that a row accepts.
func (r corpusRow) wants() []string {
	all := []string{r.Want}
	for _, m := range otherWant.FindAllStringSubmatch(r.Why, -1) {
		all = append(all, m[1]+m[2])
	}
	return all
}

func TestCorpus(t *testing.T) {
	for _, row := range corpus(t) {
		t.Run(row.ID, func(t *testing.T) {
			w := newWorld(t)
			c := w.call(string(row.Raw))
			resp, _ := c.answerHead()
			outcome := w.outcome(row, resp)
			assert.Contains(t, row.wants(), outcome, "%s: got %s", row.Why, resp)
		})
	}
}

// answerHead gives the status of the first response.
func (c *call) answerHead() (string, error) {
	line, err := c.r.ReadString('\n')
	if err != nil {
		return "none: " + err.Error(), err
	}
	return line, nil
}

// outcome names what happened in the words of the corpus.
func (w *world) outcome(row corpusRow, line string) string {
	looked, dialled, seen := w.counts()
	status := "none"
	if f := bytes.Fields([]byte(line)); len(f) > 1 {
		status = string(f[1])
	}
	switch {
	case status == "200" && row.Connect:
		return w.check("OPEN", looked == 1 && dialled == 1 && seen == 0 && w.dialled[0] == "192.0.2.80:443")
	case status == "200":
		return w.check("FWD", looked == 1 && dialled == 1 && seen == 1 && w.seen[0].Host == "allowed.test" && w.dialled[0] == "192.0.2.80:80")
	case looked+dialled+seen > 0:
		return status + ", and something was looked up or dialled"
	case status == "403":
		return "DENY"
	case status == "400" && row.Want != "400":
		return "BAD"
	}
	_, err := strconv.Atoi(status)
	return w.check(status, err == nil)
}

func (w *world) check(outcome string, ok bool) string {
	if !ok {
		return outcome + ", but not as it has to be"
	}
	return outcome
}

// The headers that must not reach an origin, in every row that is forwarded.
func TestCorpusForwardsCleanHeaders(t *testing.T) {
	gone := []string{
		"Connection", "Keep-Alive", "Te", "Trailer", "Upgrade", "Proxy-Connection", "Proxy-Authorization", "Proxy-Authenticate",
		"X-Secret", "X-Forwarded-For", "Forwarded", "Via", "X-Unix-Socket", "Content_length", "Content_Length", "User-Agent", "Accept-Encoding",
	}
	n := 0
	for _, row := range corpus(t) {
		if row.Want != "FWD" || slices.Contains([]string{"g-upgrade-ws"}, row.ID) {
			continue
		}
		t.Run(row.ID, func(t *testing.T) {
			w := newWorld(t)
			c := w.call(string(row.Raw))
			c.answerHead()
			_, _, seen := w.counts()
			if seen == 0 && slices.Contains(row.wants(), "BAD") {
				return
			}
			require.Equal(t, 1, seen)
			for _, name := range gone {
				assert.NotContains(t, w.seen[0].Header, name)
			}
			assert.Empty(t, w.seen[0].Trailer)
			n++
		})
	}
	assert.Greater(t, n, 10)
}
