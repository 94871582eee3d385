package envs

import "encoding/json"

// Secret is a text that is used and never shown: it prints, formats and marshals as a mark.
type Secret string

const hidden = "***"

func (s Secret) String() string   { return hidden }
func (s Secret) GoString() string { return hidden }

// MarshalText keeps it out of JSON and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

var _ json.Marshaler = Credentials{}

// Credentials are what the index's own host, and no other, is sent.
type Credentials struct {
	User     string
	Password Secret
}

func (c Credentials) empty() bool { return c.User == "" && c.Password == "" }

// String says only whether there are any: tokens stand in the user's place as well.
func (c Credentials) String() string {
	if c.empty() {
		return "none"
	}
	return hidden
}

// GoString keeps %#v from showing the fields.
func (c Credentials) GoString() string { return c.String() }

// MarshalJSON keeps them out of records.
func (c Credentials) MarshalJSON() ([]byte, error) { return json.Marshal(c.String()) }
