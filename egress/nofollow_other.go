//go:build !unix

package egress

const noFollow = 0
