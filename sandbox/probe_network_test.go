//go:build linux

package sandbox

import (
	"errors"
	"fmt"
	"net"
	"sort"
	"strings"
)

func lookup(host string) error {
	addresses, err := net.LookupHost(host)
	sort.Strings(addresses)
	fmt.Print(strings.Join(addresses, " "), " ")
	if err != nil {
		return errors.New("unknown")
	}
	return nil
}

func probeInterfaces([]string) int {
	all, err := net.Interfaces()
	if err != nil {
		fmt.Println(err)
		return 1
	}
	for _, i := range all {
		fmt.Println(i.Name)
	}
	return 0
}
