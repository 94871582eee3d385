package launcher_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/kernel-launch/kernel-launch/jupyter"
	"github.com/kernel-launch/kernel-launch/launcher"
)

// A kernel in the environment "default", and one cell.
func ExampleLaunch() {
	if err := runExample(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 42
	// the kernel was stopped
}

func runExample() error {
	if err := launcher.MakeDefault(); err != nil { // kernel-launch env create default
		return err
	}
	folder, err := os.MkdirTemp(filepath.Dir(os.Getenv("HOME")), "example-")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	k, err := launcher.Launch(ctx, launcher.Spec{Environment: "default", Folder: folder})
	if err != nil {
		return err
	}
	defer k.Kill()
	client, err := jupyter.Dial(ctx, k.Connection())
	if err != nil {
		return err
	}
	defer client.Close()
	_, err = client.Execute(ctx, "print(6 * 7)", jupyter.ExecuteOptions{Output: func(m jupyter.Message) {
		if s, ok := m.Stream(); ok {
			fmt.Print(s.Text)
		}
	}})
	if err != nil {
		return err
	}
	fmt.Println(k.Stop(ctx))
	return nil
}
