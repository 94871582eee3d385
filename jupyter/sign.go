package jupyter

import (
	"crypto/hmac"
	"crypto/md5"  //nolint:gosec // the file names the scheme; hmac-md5 is legal and warned of
	"crypto/sha1" //nolint:gosec // likewise
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strings"
)

// hashes are the hashes of Go's library under the names that Python's hashlib, and so Jupyter, gives them.
var hashes = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New,
	"sha224": sha256.New224, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New,
	"sha3_224": func() hash.Hash { return sha3.New224() }, "sha3_256": func() hash.Hash { return sha3.New256() },
	"sha3_384": func() hash.Hash { return sha3.New384() }, "sha3_512": func() hash.Hash { return sha3.New512() },
}

func schemeHash(scheme string) (func() hash.Hash, error) {
	name, ok := strings.CutPrefix(scheme, "hmac-")
	if h := hashes[name]; ok && h != nil {
		return h, nil
	}
	return nil, fmt.Errorf("is not hmac- and one of %s", strings.Join(slices.Sorted(maps.Keys(hashes)), ", "))
}

// signer signs and checks the four parts of a message. Without a key nothing is signed and everything passes, as the protocol has it.
type signer struct {
	key  []byte
	hash func() hash.Hash
}

func newSigner(key, scheme string) (signer, error) {
	h, err := schemeHash(scheme)
	if err != nil {
		return signer{}, fmt.Errorf("signature_scheme %q %w", scheme, err)
	}
	return signer{key: []byte(key), hash: h}, nil
}

func (s signer) sign(parts [][]byte) []byte {
	if len(s.key) == 0 {
		return nil
	}
	mac := hmac.New(s.hash, s.key)
	for _, p := range parts {
		mac.Write(p)
	}
	return hex.AppendEncode(nil, mac.Sum(nil))
}

func (s signer) verify(signature []byte, parts [][]byte) bool {
	return len(s.key) == 0 || hmac.Equal(signature, s.sign(parts))
}
