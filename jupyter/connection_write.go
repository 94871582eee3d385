package jupyter

import (
	"bytes"
	"encoding/json"
	"slices"
)

// JSON returns the text of a connection file, its key included: whoever writes it keeps it private. Keys that were read and are not known
// stand where they stood, with the value that they had.
func (c *Connection) JSON() ([]byte, error) {
	fields := slices.Clone(c.fields)
	for _, k := range c.known() {
		raw, err := json.Marshal(k.value)
		if err != nil {
			return nil, err
		}
		if i := indexOf(fields, k.name); i >= 0 {
			fields[i].raw = raw
		} else if k.name != "kernel_name" || c.KernelName != "" {
			fields = append(fields, field{k.name, raw})
		}
	}
	return writeObject(fields)
}

type known struct {
	name  string
	value any
}

func (c *Connection) known() []known {
	list := make([]known, 0, 10)
	for i, p := range c.Ports() {
		list = append(list, known{portKeys[i], p})
	}
	return append(list, known{"ip", c.IP}, known{"key", c.Key}, known{"transport", c.Transport},
		known{"signature_scheme", c.SignatureScheme}, known{"kernel_name", c.KernelName})
}

func writeObject(fields []field) ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(f.name)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(f.raw)
	}
	b.WriteByte('}')
	var out bytes.Buffer
	if err := json.Indent(&out, b.Bytes(), "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}
