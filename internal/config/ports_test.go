package config

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPortsAreReadAndWrittenAlike(t *testing.T) {
	for text, want := range map[string]Forward{
		"5432":                    {5432, "127.0.0.1", 5432},
		"5433:127.0.0.1:5432":     {5433, "127.0.0.1", 5432},
		"5432:db.lab.test:5433":   {5432, "db.lab.test", 5433},
		"1:localhost:1":           {1, "localhost", 1},
		"5432:[2001:db8::1]:5432": {5432, "2001:db8::1", 5432},
	} {
		f, err := ParseForward(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, f)
		assert.Equal(t, text, f.String())
	}
	for text, want := range map[string]Publish{"8050": {8050, 8050}, "8051:8050": {8051, 8050}} {
		p, err := ParsePublish(text)
		require.NoError(t, err, text)
		assert.Equal(t, want, p)
		assert.Equal(t, text, p.String())
	}
}

func TestWhatIsNoPort(t *testing.T) {
	for _, text := range []string{
		"", "0", "65536", "-1", "080", " 80", "80 ", "x", ":", "80:", "80:db", "80:db:", "80::80", "80:db:0", "80:db:99:80", "80:2001:db8::1:80", "80:[::1:80",
		"80:]::1[:80", "80:db lab:80", "80:.lab.test:80", "80:*:80", "80:http://db:80", "80:/run/x.sock:80", "80:db\n:80", "80:[db]:80",
	} {
		_, err := ParseForward(text)
		assert.Error(t, err, "%q", text)
	}
	for _, text := range []string{"", "0", "65536", "080", "x", ":", "80:", ":80", "127.0.0.1:80", "0.0.0.0:80:80", "80:80:80", "*:80"} {
		_, err := ParsePublish(text)
		assert.Error(t, err, "%q", text)
	}
}
