package envs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"github.com/kernel-launch/kernel-launch/restart"
)

// DigestOf names the state that a plan stands on: equal snapshots have equal digests.
func DigestOf(s restart.Snapshot) string {
	data, err := json.Marshal(s)
	if err != nil { // a snapshot has nothing that cannot be written
		data = []byte(err.Error())
	}
	return hexSum(data)
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// seal computes the digest. It covers what the plan stands on and all that it does, not when it was made, nor the gateway's address of the day.
func (p *Plan) seal() (err error) {
	p.Digest, err = p.digest()
	return err
}

func (p *Plan) digest() (string, error) {
	c := *p
	c.ID, c.Digest, c.Created, c.Expires = "", "", time.Time{}, time.Time{}
	c.Before = restart.Snapshot{} // Base stands for it
	c.Files = slices.Clone(p.Files)
	for i := range c.Files {
		c.Files[i].URL = ""
	}
	if p.Alternative != nil {
		other, err := p.Alternative.digest()
		if err != nil {
			return "", err
		}
		c.Alternative = &Plan{Digest: other}
	}
	data, err := json.Marshal(c)
	if err != nil {
		return "", err
	}
	return hexSum(data), nil
}
