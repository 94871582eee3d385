package cli

import (
	"fmt"
	"io"
)

// longestColour bounds a sequence that may become a colour.
const longestColour = 64

// shownWriter passes a command's output to a terminal that is not the command's own: text, white space and colours as they are, every other control
// character as an escape. A terminal obeys more than it shows: its title, its clipboard, answers that land in the next prompt.
type shownWriter struct {
	w    io.Writer
	held []byte // what may become a colour, or the first byte of a control character in UTF-8
}

func shown(w io.Writer, to bool) io.Writer {
	if !to {
		return w
	}
	return &shownWriter{w: w}
}

func (s *shownWriter) Write(p []byte) (int, error) {
	out := make([]byte, 0, len(p)+16)
	for _, b := range p {
		out = s.next(out, b)
	}
	if _, err := s.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (s *shownWriter) next(out []byte, b byte) []byte {
	switch {
	case len(s.held) == 1 && s.held[0] == 0xc2: // U+0080 to U+009F are controls, too
		if b >= 0x80 && b < 0xa0 {
			s.held = nil
			return fmt.Appendf(out, `\x%02x`, b)
		}
		out = append(out, s.held...)
		s.held = nil
	case len(s.held) > 0:
		if s.continues(b) {
			s.held = append(s.held, b)
			if b == 'm' {
				out = append(out, s.held...)
				s.held = nil
			}
			return out
		}
		out = append(fmt.Appendf(out, `\x%02x`, s.held[0]), s.held[1:]...)
		s.held = nil
	}
	switch {
	case b == 0x1b || b == 0xc2:
		s.held = append(s.held, b)
	case b < ' ' && b != '\n' && b != '\r' && b != '\t' && b != '\b', b == 0x7f:
		out = fmt.Appendf(out, `\x%02x`, b)
	default:
		out = append(out, b)
	}
	return out
}

// continues reports whether b can follow what is held in ESC [ numbers m.
func (s *shownWriter) continues(b byte) bool {
	if len(s.held) == 1 {
		return b == '['
	}
	return len(s.held) < longestColour && (b >= '0' && b <= '9' || b == ';' || b == ':' || b == 'm')
}
