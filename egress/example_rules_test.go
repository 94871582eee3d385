package egress_test

import (
	"errors"
	"fmt"
	"net/netip"

	"github.com/kernel-launch/kernel-launch/egress"
)

func ExampleParseRule() {
	for _, s := range []string{"*.Example.org", "bücher.example", "https://example.org/simple"} {
		r, err := egress.ParseRule(s)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(r)
	}
	// Output:
	// *.example.org
	// xn--bcher-kva.example
	// rule "https://example.org/simple": a URL is no rule; drop the scheme and the path; write "example.org"
}

// The rule that was meant can be taken from the error.
func ExampleRuleError() {
	_, err := egress.ParseRule("me@data.example.org/files")
	var fault *egress.RuleError
	if errors.As(err, &fault) {
		fmt.Println(fault.What)
		fmt.Println(fault.Suggest)
	}
	// Output:
	// a rule has no user
	// data.example.org
}

func ExampleParseAuthority() {
	for _, s := range []string{"Example.ORG.:443", "[::ffff:192.0.2.1]:443", "2130706433:443"} {
		t, err := egress.ParseAuthority(s)
		if err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println(t)
	}
	// Output:
	// example.org:443
	// 192.0.2.1:443
	// target "2130706433": a host that ends in a number is an address, and this one is not four decimal numbers
}

func ExampleParseHost() {
	for _, s := range []string{"Bücher.example", "data.test:8443", "2001:db8::1"} {
		t, err := egress.ParseHost(s, 443)
		check(err)
		fmt.Println(t)
	}
	// Output:
	// xn--bcher-kva.example:443
	// data.test:8443
	// [2001:db8::1]:443
}

// Deny beats allow, whatever the order and however narrow either is.
func ExampleRules_Decide() {
	rules := &egress.Rules{Allow: []egress.Rule{rule(".lab.test"), rule("git.test:22")}, Deny: []egress.Rule{rule("upload.lab.test")}}
	for _, s := range []string{"data.lab.test:443", "upload.lab.test:443", "git.test:22", "git.test:443", "192.0.2.7:443", "localhost:443"} {
		t, err := egress.ParseAuthority(s)
		check(err)
		d := rules.Decide(t)
		fmt.Printf("%s %s %s %q\n", t, d.Verdict, d.Code, d.Rule)
	}
	// Output:
	// data.lab.test:443 allow allowed ".lab.test"
	// upload.lab.test:443 deny deny-rule "upload.lab.test"
	// git.test:22 allow allowed "git.test:22"
	// git.test:443 deny port-not-listed "git.test:22"
	// 192.0.2.7:443 deny address-literal ""
	// localhost:443 deny local-name ""
}

func ExampleRule_Narrow() {
	both, ok := rule(".lab.test").Narrow(rule("data.lab.test:443"))
	fmt.Println(both, ok)
	_, ok = rule("data.lab.test").Narrow(rule("other.test"))
	fmt.Println(ok)
	// Output:
	// data.lab.test:443 true
	// false
}

func ExampleGroup() {
	fmt.Println(egress.GroupNames())
	rules, ok := egress.Group("python")
	fmt.Println(rules, ok)
	// Output:
	// [bio conda github huggingface python r]
	// [pypi.org files.pythonhosted.org] true
}

// A pin says where a name is, and nothing about whether it may be reached.
func ExampleParsePin() {
	p, err := egress.ParsePin(".lab.test:443", "127.0.0.1:8443")
	check(err)
	target, err := egress.ParseAuthority("data.lab.test:443")
	check(err)

	rules := &egress.Rules{Pins: []egress.Pin{p}}
	fmt.Println(p, rules.Decide(target).Verdict)
	rules.Allow = []egress.Rule{rule(".lab.test")}
	fmt.Println(rules.Decide(target).Verdict, rules.Decide(target).Pin)
	// Output:
	// .lab.test:443 → 127.0.0.1:8443 deny
	// allow 127.0.0.1:8443
}

func ExampleParseInward() {
	i, err := egress.ParseInward("mirror.corp.example", "10.20.0.0/16")
	check(err)
	fmt.Println(i)
	_, err = egress.ParseInward("mirror.corp.example", "127.0.0.0/8")
	fmt.Println(err)
	// Output:
	// mirror.corp.example into 10.20.0.0/16
	// allow_inward "mirror.corp.example" "127.0.0.0/8": only a range inside private, shared or benchmark address space can be opened
}

func ExampleClassify() {
	for _, s := range []string{"93.184.216.34", "10.0.0.7", "169.254.169.254", "::ffff:127.0.0.1", "64:ff9b::7f00:1"} {
		fmt.Println(s, egress.Classify(netip.MustParseAddr(s)))
	}
	// Output:
	// 93.184.216.34 public
	// 10.0.0.7 private
	// 169.254.169.254 metadata
	// ::ffff:127.0.0.1 loopback
	// 64:ff9b::7f00:1 embedded
}
