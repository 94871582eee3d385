package jupyter

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func testSigner(t testing.TB, key string) signer {
	s, err := newSigner(key, "hmac-sha256")
	require.NoError(t, err)
	return s
}

func TestAMessageSurvivesTheWire(t *testing.T) {
	s := testSigner(t, "k-example")
	m, err := newMessage("comm_msg", "session", map[string]string{"a": "ü\n"})
	require.NoError(t, err)
	m.Identities = [][]byte{[]byte("one"), {0, 1, 2}}
	m.Parent = Header{ID: "p", Type: "execute_request"}
	m.Metadata = json.RawMessage(`{"x":1}`)
	m.Buffers = [][]byte{{1}, {}, []byte("<IDS|MSG>")}
	frames, err := m.encode(s)
	require.NoError(t, err)
	got, err := decode(frames, s, "hmac-sha256")
	require.NoError(t, err)
	assert.Equal(t, m, got)
}

func TestARequestSaysWhoAndWhen(t *testing.T) {
	m, err := newMessage("execute_request", "session", struct{}{})
	require.NoError(t, err)
	_, err = uuid.Parse(m.Header.ID)
	assert.NoError(t, err)
	date, err := time.Parse(time.RFC3339Nano, m.Header.Date)
	require.NoError(t, err)
	assert.Equal(t, time.UTC, date.Location())
	assert.WithinDuration(t, time.Now(), date, time.Minute)
	assert.Equal(t, "5.3", m.Header.Version)
}

// The digest was computed with Python's hmac.new(b"k-example", b"".join(parts), hashlib.sha256).hexdigest().
func TestSignatureAgainstPython(t *testing.T) {
	parts := [][]byte{[]byte(`{"msg_id":"1"}`), []byte("{}"), []byte("{}"), []byte(`{"code":"1"}`)}
	assert.Equal(t, "e0abcbb65955d0f87300aca8ccd70e6f43605afb0f3ae44b70b833fb68c2f83e", string(testSigner(t, "k-example").sign(parts)))
}

func TestEveryBitOfASignedPartCounts(t *testing.T) {
	s := testSigner(t, "k-example")
	m, err := newMessage("x", "s", struct{}{})
	require.NoError(t, err)
	frames, err := m.encode(s)
	require.NoError(t, err)
	for i := 1; i < len(frames); i++ { // the signature and the four parts
		frames[i][len(frames[i])-1] ^= 1
		_, err := decode(frames, s, "hmac-sha256")
		var wrong *SignatureError
		assert.ErrorAs(t, err, &wrong, "frame %d", i)
		frames[i][len(frames[i])-1] ^= 1
	}
	_, err = decode(frames, s, "hmac-sha256")
	assert.NoError(t, err)
}

func TestMalformedMessages(t *testing.T) {
	s := testSigner(t, "")
	b := func(list ...string) (frames [][]byte) {
		for _, x := range list {
			frames = append(frames, []byte(x))
		}
		return frames
	}
	for name, frames := range map[string][][]byte{
		"nothing":           nil,
		"no delimiter":      b("a", "b"),
		"too few parts":     b("<IDS|MSG>", "", "{}", "{}", "{}"),
		"header no JSON":    b("<IDS|MSG>", "", "{", "{}", "{}", "{}"),
		"header a list":     b("<IDS|MSG>", "", "[]", "{}", "{}", "{}"),
		"parent no JSON":    b("<IDS|MSG>", "", "{}", "x", "{}", "{}"),
		"content no JSON":   b("<IDS|MSG>", "", "{}", "{}", "{}", "}"),
		"metadata no JSON":  b("<IDS|MSG>", "", "{}", "{}", "", "{}"),
		"a delimiter late":  append(make([][]byte, maxIDs+1), b("<IDS|MSG>", "", "{}", "{}", "{}", "{}")...),
		"a header too long": b("<IDS|MSG>", "", `{"msg_id":"`+string(make([]byte, maxHeader))+`"}`, "{}", "{}", "{}"),
	} {
		_, err := decode(frames, s, "hmac-sha256")
		assert.Error(t, err, name)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("<IDS|MSG>"), []byte(""), []byte("{}"), []byte("{}"), []byte("{}"))
	s := testSigner(f, "")
	f.Fuzz(func(t *testing.T, a, b, c, d, e []byte) {
		m, err := decode([][]byte{a, b, c, d, e, e, a}, s, "hmac-sha256")
		if err == nil {
			m.Stream()
			m.Display()
			m.Exception()
			m.Status()
		}
	})
}

func TestUnknownHash(t *testing.T) {
	for _, scheme := range []string{"hmac-foo", "sha256", "hmac-", "", "hmac-SHA256"} {
		_, err := newSigner("k", scheme)
		assert.ErrorContains(t, err, "sha256", scheme)
	}
}
