//go:build linux

package sandbox_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/kernel-launch/kernel-launch/sandbox"
)

// A policy is plain values; the plan that comes of it can be read before anything runs.
func ExampleBackend() {
	ctx := context.Background()
	backend := sandbox.Default()
	plan, err := backend.Plan(sandbox.Policy{Network: sandbox.NetworkNone})
	if err != nil {
		fmt.Println(err)
		return
	}
	process, err := backend.Start(ctx, plan, sandbox.Command{
		Argv:   []string{"/bin/sh", "-c", "pwd; ls /home /root 2>/dev/null; echo done"},
		Stdout: os.Stdout,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(process.Wait())
	// Output:
	// /run/kernel-launch/work
	// done
	// <nil>
}

func ExampleParseSize() {
	for _, text := range []string{"512MiB", "lots"} {
		size, err := sandbox.ParseSize(text)
		fmt.Println(int64(size), err)
	}
	// Output:
	// 536870912 <nil>
	// 0 size "lots" is no whole number of bytes, KiB, MiB, GiB or TiB
}

func ExampleParseNetwork() {
	network, err := sandbox.ParseNetwork("allow")
	fmt.Printf("%q %v\n", string(network), err)
	// Output:
	// "" network "allow" is none of none, allowlist, host
}

func ExampleCompile() {
	facts := sandbox.Facts{Goos: "linux", Homes: []string{"/home/ada"}, Paths: map[string]sandbox.Entry{
		"/nb": {Kind: sandbox.EntryFolder, Resolved: "/home/ada"},
	}}
	_, err := sandbox.Compile(sandbox.Policy{Folder: "/nb"}, facts)
	fmt.Println(err)
	// Output:
	// folder /nb (which is /home/ada) is too broad: it is a home folder or contains one
}

// What a look at the top level does not find is said after the start.
func ExampleLint() {
	folder, err := os.MkdirTemp("/var/tmp", "lint")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	os.MkdirAll(folder+"/work/deep", 0o755)
	os.WriteFile(folder+"/cached", nil, 0o600)
	os.Link(folder+"/cached", folder+"/work/deep/file")
	plan, err := sandbox.Default().Plan(sandbox.Policy{Folder: folder + "/work"})
	if err != nil {
		fmt.Println(err)
		return
	}
	sandbox.Lint(context.Background(), plan, func(warning string) {
		fmt.Println(strings.ReplaceAll(warning, folder, ""))
	})
	// Output:
	// folder /work holds files that have another name elsewhere, which a write inside changes as well: deep/file
}

// A folder that the host acts on later stays read-only in the folder that a command works in.
func ExampleCompile_islands() {
	facts := sandbox.Facts{Goos: "linux", Arch: "amd64", Landlock: 7, Paths: map[string]sandbox.Entry{
		"/nb":      {Kind: sandbox.EntryFolder, Resolved: "/nb"},
		"/nb/.git": {Kind: sandbox.EntryFolder, Resolved: "/nb/.git"},
	}}
	for _, write := range [][]string{nil, {"/nb/.git"}} {
		plan, err := sandbox.Compile(sandbox.Policy{Folder: "/nb", Write: write}, facts)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, m := range plan.Mounts {
			if m.Island || m.Target == "/nb" {
				fmt.Println(m)
			}
		}
	}
	// Output:
	// /nb is the host's, read-write: the working folder
	// /nb/.git stays read-only in the writable folder: the host acts on what is in it
	// /nb is the host's, read-write: the working folder
}

func ExampleClassify() {
	e := sandbox.Classify("bwrap: setting up uid map: Permission denied\n", "", sandbox.Machine{AppArmorRestricts: true})
	fmt.Println(e.Cause)
	fmt.Println(e.Remedy)
	// Output:
	// userns-refused
	// install a profile for bwrap that allows userns (on Ubuntu in the package apparmor-profiles), which frees bwrap alone
}
