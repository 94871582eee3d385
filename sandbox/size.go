package sandbox

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes. It reads and prints as 1GiB, 512MiB, 64KiB or plain bytes.
type Size int64

var units = []struct {
	name  string
	bytes Size
}{{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// SizeError is a text that is no size.
type SizeError struct{ Value, Reason string }

func (e *SizeError) Error() string {
	return fmt.Sprintf("size %q %s", e.Value, e.Reason)
}

// ParseSize reads a whole number with an optional binary unit directly behind it. Decimal units (GB) are refused: people mean both.
func ParseSize(s string) (Size, error) {
	digits, unit := s, Size(1)
	for _, u := range units {
		if d, ok := strings.CutSuffix(s, u.name); ok {
			digits, unit = d, u.bytes
			break
		}
	}
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, &SizeError{Value: s, Reason: "is no whole number of bytes, KiB, MiB, GiB or TiB"}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > math.MaxInt64/int64(unit) {
		return 0, &SizeError{Value: s, Reason: "is too large"}
	}
	return Size(n) * unit, nil
}

// String uses the largest unit that divides the size, so that ParseSize reads back the same value.
func (s Size) String() string {
	for _, u := range units {
		if s != 0 && s%u.bytes == 0 {
			return strconv.FormatInt(int64(s/u.bytes), 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10)
}

// MarshalText writes a size the way people read it.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what ParseSize reads.
func (s *Size) UnmarshalText(text []byte) (err error) {
	*s, err = ParseSize(string(text))
	return err
}
