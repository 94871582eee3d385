package egress

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestListenIsForThisMachineOrForWhoKnowsASecret(t *testing.T) {
	p := &Proxy{}
	for _, address := range []string{"", ":0", ":3128", "0.0.0.0:0", "[::]:0", "192.0.2.1:0", "localhost:0", "127.0.0.1", "[::ffff:0.0.0.0]:0"} {
		_, err := p.Listen(address)
		var fault *ListenError
		require.ErrorAs(t, err, &fault, address)
		assert.NoError(t, fault.Err)
		assert.ErrorContains(t, err, "set a Secret")
	}
	l, err := p.Listen("127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	_, err = p.Listen(l.Addr().String())
	var fault *ListenError
	require.ErrorAs(t, err, &fault)
	assert.Error(t, fault.Err, "the port is taken")

	p.Secret = NewSecret()
	open, err := p.Listen(":0")
	require.NoError(t, err)
	open.Close()
}
