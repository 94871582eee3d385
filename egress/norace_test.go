//go:build !race

package egress

const raced = false
