package jupyter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/internal/cases"
)

// oneCase is a row of testdata/cases/jupyter.json. Fields whose shape depends on input.kind stay raw.
type oneCase struct {
	ID    string
	Input struct {
		Kind          string
		JSON          json.RawMessage
		Text          string
		B64           []byte
		ModeGiven     string       `json:"mode_given"`
		HostAddresses []netip.Addr `json:"host_addresses"`
	}
	Expected struct {
		Verdict      json.RawMessage
		MessageNames json.RawMessage `json:"message_names"`
		MessageNever []string        `json:"message_never"`
		Warn         []string
		Values       map[string]any
		Faults       int
		Endpoints    map[Channel]string
		ConnectIP    string            `json:"connect_ip"`
		Dial         []json.RawMessage `json:"dial"`
		DigestHexLen []*int            `json:"digest_hex_len"`
		Frame        []string          `json:"signature_frame"`
		Unsigned     []bool            `json:"accepts_unsigned_reply"`
	}
}

func TestCases(t *testing.T) {
	cases.Run(t, "jupyter.json", cases.Runners[oneCase]{
		"connection_file":          runFile,
		"connection_file_variants": runVariants,
		"connection_file_on_disk":  runOnDisk,
		"connection_text":          runText,
	})
}

// verdict checks one file against one word of a row.
func verdict(t *testing.T, want string, c *Connection, err error) {
	t.Helper()
	if want == "refuse" {
		require.Error(t, err)
		return
	}
	require.NoError(t, err)
	assert.Equal(t, want == "launch with warning", len(c.Warnings) > 0, "warnings %q for verdict %q", c.Warnings, want)
}

func runFile(t *testing.T, row oneCase) {
	c, err := ParseConnection("kernel-7.json", row.Input.JSON)
	if cases.As[string](t, row.Expected.Verdict) == "refuse" {
		require.Error(t, err)
		for _, name := range cases.As[[]string](t, row.Expected.MessageNames) {
			assert.ErrorContains(t, err, name)
		}
		assert.Contains(t, err.Error(), "kernel-7.json")
		assert.ErrorIs(t, err, ErrRegistration)
		return
	}
	require.NoError(t, err)
	for ch, want := range row.Expected.Endpoints {
		assert.Equal(t, want, c.Endpoint(ch))
	}
	if row.Expected.ConnectIP != "" {
		assert.Equal(t, row.Expected.ConnectIP, c.Host())
	}
	warned(t, row.Expected.Warn, c)
}

func warned(t *testing.T, want []string, c *Connection) {
	t.Helper()
	for _, w := range want {
		assert.Contains(t, strings.Join(c.Warnings, "\n"), w)
	}
	if want == nil {
		assert.Empty(t, c.Warnings)
	}
}

func runVariants(t *testing.T, row oneCase) {
	verdicts, names := cases.As[[]string](t, row.Expected.Verdict), cases.As[[]string](t, row.Expected.MessageNames)
	for i, text := range cases.As[[]json.RawMessage](t, row.Input.JSON) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			c, err := ParseConnection("f", text)
			if err == nil && len(row.Input.HostAddresses) > 0 {
				err = c.CheckLocal(row.Input.HostAddresses)
			}
			verdict(t, verdicts[i], c, err)
			if names != nil {
				said := fmt.Sprint(err)
				if err == nil {
					said = strings.Join(c.Warnings, "\n")
				}
				assert.Contains(t, said, names[i])
			}
			if err == nil {
				checkVariant(t, row, i, c)
			}
		})
	}
}

func checkVariant(t *testing.T, row oneCase, i int, c *Connection) {
	if row.Expected.Dial != nil {
		assert.Equal(t, cases.As[string](t, row.Expected.Dial[i]), c.Endpoint(Shell))
	}
	s, err := newSigner(c.Key, c.SignatureScheme)
	require.NoError(t, err)
	parts := [][]byte{[]byte("{}"), []byte("{}"), []byte("{}"), []byte("{}")}
	signature := string(s.sign(parts))
	if row.Expected.DigestHexLen != nil {
		assert.Len(t, signature, *row.Expected.DigestHexLen[i])
		assert.True(t, s.verify([]byte(signature), parts))
	}
	if row.Expected.Frame != nil {
		switch row.Expected.Frame[i] {
		case "empty":
			assert.Empty(t, signature)
		default:
			assert.Len(t, signature, 64)
		}
		assert.Equal(t, row.Expected.Unsigned[i], s.verify(nil, parts))
		assert.Equal(t, row.Expected.Unsigned[i], s.verify([]byte("00"), parts))
	}
}

func runOnDisk(t *testing.T, row oneCase) {
	path := filepath.Join(t.TempDir(), "kernel-1.json")
	require.NoError(t, os.WriteFile(path, []byte(fileText), 0o600))
	c, err := ReadConnection(path)
	require.NoError(t, err)
	assert.Empty(t, c.Warnings, "a private file is warned of")

	var mode os.FileMode
	_, err = fmt.Sscanf(row.Input.ModeGiven, "%o", &mode)
	require.NoError(t, err)
	require.NoError(t, os.Chmod(path, mode))
	c, err = ReadConnection(path)
	require.NoError(t, err)
	warned(t, row.Expected.Warn, c)
	assert.Empty(t, modeWarning("windows", mode))
}

func runText(t *testing.T, row oneCase) {
	data := []byte(row.Input.Text)
	if row.Input.B64 != nil {
		data = row.Input.B64
	}
	c, err := ParseConnection("kernel-7.json", data)
	if cases.As[string](t, row.Expected.Verdict) == "refuse" {
		require.Error(t, err)
		checkFaults(t, row, err)
		return
	}
	require.NoError(t, err)
	warned(t, row.Expected.Warn, c)
	written, err := c.JSON()
	require.NoError(t, err)
	var values map[string]any
	require.NoError(t, json.Unmarshal(written, &values))
	values["dial"] = c.Endpoint(Shell)
	for name, want := range row.Expected.Values {
		assert.EqualValues(t, want, values[name], name)
	}
}

func checkFaults(t *testing.T, row oneCase, err error) {
	for _, name := range cases.As[[]string](t, row.Expected.MessageNames) {
		assert.ErrorContains(t, err, name)
	}
	for _, never := range row.Expected.MessageNever {
		assert.NotContains(t, err.Error(), never)
	}
	lines := strings.Split(err.Error(), "\n")
	for _, line := range lines {
		assert.True(t, strings.HasPrefix(line, "kernel-7.json: "), line)
	}
	if row.Expected.Faults > 0 {
		assert.Len(t, lines, row.Expected.Faults, err.Error())
	}
	var fault *FaultError
	assert.ErrorAs(t, err, &fault)
}

const fileText = `{
  "shell_port": 50160, "iopub_port": 57503, "later": {"b": [1, 2], "a": 1.0}, "stdin_port": 52597, "control_port": 40885,
  "hb_port": 42540, "ip": "127.0.0.1", "key": "k-example", "transport": "tcp", "signature_scheme": "hmac-sha256", "kernel_name": ""
}`

func TestWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "kernel-9.json")
	_, err := ReadConnection(missing)
	require.ErrorIs(t, err, os.ErrNotExist)
	assert.Equal(t, missing+": does not exist", err.Error())

	_, err = ReadConnection(dir)
	assert.EqualError(t, err, dir+": is not a regular file")

	huge := filepath.Join(dir, "huge.json")
	require.NoError(t, os.WriteFile(huge, bytes.Repeat([]byte(" "), MaxConnectionFile+1), 0o600))
	_, err = ReadConnection(huge)
	assert.ErrorContains(t, err, "is larger than 1048576 bytes")
}

func TestJSONKeepsUnknownKeysInOrder(t *testing.T) {
	c, err := ParseConnection("f", []byte(fileText))
	require.NoError(t, err)
	copied := c.WithIP("127.0.0.9")
	copied.Shell = 1
	out, err := copied.JSON()
	require.NoError(t, err)
	assert.Equal(t, "127.0.0.1", c.IP)

	fields, _, err := parseObject(out)
	require.NoError(t, err)
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
	}
	assert.Equal(t, []string{
		"shell_port", "iopub_port", "later", "stdin_port", "control_port", "hb_port", "ip", "key", "transport", "signature_scheme", "kernel_name",
	}, names)
	again, err := ParseConnection("f", out)
	require.NoError(t, err)
	assert.Equal(t, 1, again.Shell)
	assert.Equal(t, "127.0.0.9", again.IP)
	var later bytes.Buffer
	require.NoError(t, json.Compact(&later, fields[2].raw))
	assert.Equal(t, `{"b":[1,2],"a":1.0}`, later.String(), "a number keeps its digits")
}

func TestJSONOfAMadeConnection(t *testing.T) {
	made := Connection{Transport: "tcp", IP: "127.0.0.1", Key: NewKey(), SignatureScheme: "hmac-sha256", Shell: 1, IOPub: 2, Stdin: 3, Control: 4, HB: 5}
	out, err := made.JSON()
	require.NoError(t, err)
	read, err := ParseConnection("f", out)
	require.NoError(t, err)
	assert.Equal(t, made.Key, read.Key)
	assert.Equal(t, []int{1, 2, 3, 4, 5}, read.Ports())
	assert.NotContains(t, string(out), "kernel_name")
}

func TestTheKeyIsNeverPrinted(t *testing.T) {
	c, err := ParseConnection("f", []byte(fileText))
	require.NoError(t, err)
	marshalled, err := json.Marshal(c)
	require.NoError(t, err)
	for _, s := range []string{c.String(), fmt.Sprint(c), fmt.Sprintf("%+v", *c), fmt.Sprintf("%#v", c), string(marshalled)} {
		assert.NotContains(t, s, "k-example")
	}
	assert.Equal(t, "tcp 127.0.0.1 (shell 50160, iopub 57503, stdin 52597, control 40885, hb 42540; hmac-sha256)", c.String())
}

func TestNewKeysDiffer(t *testing.T) {
	a, b := NewKey(), NewKey()
	assert.Len(t, a, 64)
	assert.NotEqual(t, a, b)
}

func TestEveryFaultIsTyped(t *testing.T) {
	_, err := ParseConnection("f", []byte(`{"transport":"smtp","ip":7,"shell_port":70000}`))
	var joined interface{ Unwrap() []error }
	require.True(t, errors.As(err, &joined))
	for _, one := range joined.Unwrap() {
		var fault *FaultError
		assert.ErrorAs(t, one, &fault)
	}
	assert.Len(t, joined.Unwrap(), 4)
}

func FuzzParseConnection(f *testing.F) {
	f.Add([]byte(fileText))
	f.Add([]byte(`{"registration_port": 1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ParseConnection("f", data)
		if err != nil {
			return
		}
		out, err := c.JSON()
		require.NoError(t, err)
		again, err := ParseConnection("f", out)
		require.NoError(t, err, string(out))
		assert.Equal(t, c.Key, again.Key)
		assert.Equal(t, c.Ports(), again.Ports())
		assert.Equal(t, c.Endpoint(Shell), again.Endpoint(Shell))
	})
}
