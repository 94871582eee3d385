package jupyter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// ProtocolVersion is the version of Jupyter's messaging protocol that the client speaks.
const ProtocolVersion = "5.3"

// Bounds of a message: what is larger ends the connection, since a kernel is not trusted.
const (
	MaxMessage = 128 << 20 // bytes over all frames
	MaxFrames  = 2048      // identities, parts and buffers together
	maxHeader  = 64 << 10  // bytes of a header
	maxIDs     = 16        // identities before the delimiter
)

var delimiter = []byte("<IDS|MSG>")

// Header identifies a message.
type Header struct {
	ID       string `json:"msg_id"`
	Type     string `json:"msg_type"`
	Session  string `json:"session"`
	Username string `json:"username"`
	Date     string `json:"date"`
	Version  string `json:"version"`
}

// Message is one message of the protocol. What a kernel wrote in it is foreign text: it is printed through a filter, if at all.
type Message struct {
	Channel    Channel // where it came from; empty for one that was made here
	Identities [][]byte
	Header     Header
	Parent     Header // of the request that it belongs to; zero if to none
	Metadata   json.RawMessage
	Content    json.RawMessage
	Buffers    [][]byte
}

// SignatureError is returned for a message whose signature does not match. Its content was not read.
type SignatureError struct{ Scheme string }

func (e *SignatureError) Error() string { return "message with a wrong " + e.Scheme + " signature" }

// newMessage makes a request with a fresh id and the present time in UTC.
func newMessage(kind, session string, content any) (Message, error) {
	raw, err := json.Marshal(content)
	if err != nil {
		return Message{}, fmt.Errorf("%s: %w", kind, err)
	}
	return Message{
		Header: Header{
			ID: uuid.NewString(), Type: kind, Session: session, Username: "kernel-launch",
			Date: time.Now().UTC().Format("2006-01-02T15:04:05.000000Z"), Version: ProtocolVersion,
		},
		Content: raw,
	}, nil
}

// encode returns the frames of m, signed.
func (m Message) encode(s signer) ([][]byte, error) {
	header, err := json.Marshal(m.Header)
	if err != nil {
		return nil, err
	}
	parent := []byte("{}")
	if m.Parent != (Header{}) {
		if parent, err = json.Marshal(m.Parent); err != nil {
			return nil, err
		}
	}
	parts := [][]byte{header, parent, orEmpty(m.Metadata), orEmpty(m.Content)}
	frames := make([][]byte, 0, len(m.Identities)+6+len(m.Buffers))
	frames = append(frames, m.Identities...)
	frames = append(frames, delimiter, s.sign(parts))
	frames = append(frames, parts...)
	return append(frames, m.Buffers...), nil
}

func orEmpty(raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return []byte("{}")
	}
	return raw
}

// decode reads frames. The signature is checked before anything else is looked at.
func decode(frames [][]byte, s signer, scheme string) (Message, error) {
	at := delimiterAt(frames)
	if at < 0 {
		return Message{}, errors.New("message without a delimiter")
	}
	rest := frames[at+1:]
	if len(rest) < 5 {
		return Message{}, fmt.Errorf("message with %d frames after the delimiter instead of 5", len(rest))
	}
	parts := rest[1:5]
	if !s.verify(rest[0], parts) {
		return Message{}, &SignatureError{Scheme: scheme}
	}
	m := Message{Identities: frames[:at], Metadata: parts[2], Content: parts[3], Buffers: rest[5:]}
	return m, m.decodeHeaders(parts[0], parts[1])
}

func delimiterAt(frames [][]byte) int {
	for i := 0; i < len(frames) && i <= maxIDs; i++ {
		if bytes.Equal(frames[i], delimiter) {
			return i
		}
	}
	return -1
}

func (m *Message) decodeHeaders(header, parent []byte) error {
	if len(header) > maxHeader || len(parent) > maxHeader {
		return fmt.Errorf("message header larger than %d bytes", maxHeader)
	}
	if err := json.Unmarshal(header, &m.Header); err != nil {
		return fmt.Errorf("message header: %w", err)
	}
	if err := json.Unmarshal(parent, &m.Parent); err != nil {
		return fmt.Errorf("parent header: %w", err)
	}
	if !json.Valid(m.Content) || !json.Valid(m.Metadata) {
		return fmt.Errorf("%s: content or metadata is not JSON", m.Header.Type)
	}
	return nil
}
