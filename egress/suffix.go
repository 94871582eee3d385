package egress

import (
	"fmt"

	"golang.org/x/net/publicsuffix"
)

// Caution is what whoever allows the rule should know, empty for nothing: below
// a public suffix, such as "co.uk" or "github.io", anybody can have a name.
func (r Rule) Caution() string {
	if r.reach == reachExact {
		return ""
	}
	if suffix, _ := publicsuffix.PublicSuffix(r.name); suffix != r.name {
		return ""
	}
	return fmt.Sprintf("anybody can have a name below %s, and so can whoever wrote what a kernel runs; name the hosts", r.name)
}
