package config_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/kernel-launch/kernel-launch/internal/config"
)

func ExampleLoad() {
	dir, err := os.MkdirTemp("", "config")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "config.yaml")
	text := "sandbox: {network: none}\nfolders:\n  " + dir + ":\n    egress: {allow: [data.example.org]}\n    sandbox: {network: allowlist}\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	c, err := config.Load(config.Sources{User: file, Folder: dir})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(string(c.Sandbox.Network), c.Egress.Allow, c.Origins("egress.allow"))

	_ = os.WriteFile(file, []byte("egress:\n  alow: [data.example.org]\n"), 0o600)
	_, err = config.Load(config.Sources{User: file})
	fmt.Println(err)
	// Output:
	// allowlist [data.example.org] [config.yaml:4]
	// config.yaml:2: egress: unknown key "alow" (did you mean "allow"?)
}

func ExampleConfig_Apply() {
	c := config.Default()
	fmt.Println(c.Apply(config.Overrides{Network: "internet", Publish: []string{"80000"}}))
	// Output:
	// --network: network "internet" is none of none, allowlist, host
	// --publish: must be a port from 1 to 65535, not "80000"
}
