package cli

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kernel-launch/kernel-launch/sandbox/selftest"
)

func TestAnAttemptThatGotThroughIsAFailure(t *testing.T) {
	r := selftest.Report{Rows: []selftest.Row{
		{Number: 1, Name: "connect", Control: "did", Inside: "ECONNREFUSED", OK: true},
		{Number: 5, Name: "read a secret", Control: "did", Inside: "did", Why: "it got through"},
	}}
	for _, asJSON := range []bool{false, true} {
		var out bytes.Buffer
		a := &app{out: &out, json: asJSON}
		err := a.tried("bubblewrap", r)
		var quiet *quietError
		require.ErrorAs(t, err, &quiet)
		assert.Equal(t, statusFailed, quiet.status)
		assert.Contains(t, out.String(), "1 of 2 attempts did not come out as they must: 5 read a secret: outside did, inside did (it got through)")
		assert.Equal(t, asJSON, bytes.Contains(out.Bytes(), []byte(`"code": "wall"`)))
	}
}
