package kernelspec_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/kernel-launch/kernel-launch/kernelspec"
)

func ExampleInstall() {
	home, err := os.MkdirTemp("", "home")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(home)
	finder := kernelspec.Finder{Goos: runtime.GOOS, Getenv: func(name string) string {
		return map[string]string{"HOME": home, "USERPROFILE": home}[name]
	}}
	o := kernelspec.ForEnvironment(filepath.Join(home, "bin", "kernel-launch"), "default", "python", "3.12.4")
	o.Root = finder.UserRoot()
	if _, err := kernelspec.Install(o); err != nil {
		fmt.Println(err)
		return
	}
	spec, err := finder.Find("kernel-launch-default")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(spec.DisplayName)
	fmt.Println(spec.Argv[1:])
	fmt.Println(kernelspec.Remove(spec.Dir))
	// Output:
	// Python 3 · default (confined)
	// [--env default -f {connection_file}]
	// <nil>
}

func ExampleExpand() {
	spec := &kernelspec.Spec{Dir: "/usr/share/jupyter/kernels/k", Argv: []string{"{prefix}/bin/python", "~/boot.py", "--conn={connection_file}", "{unknown}"}}
	argv := kernelspec.Expand(spec, kernelspec.Values{ConnectionFile: "/run/my dir/c.json", Prefix: "/data/envs/default", Home: "/home/u"})
	for _, arg := range argv {
		fmt.Println(arg)
	}
	// Output:
	// /data/envs/default/bin/python
	// /home/u/boot.py
	// --conn=/run/my dir/c.json
	// {unknown}
}
