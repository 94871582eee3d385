package jupyter_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/kernel-launch/kernel-launch/jupyter"
)

// A client of a kernel that listens on unix sockets.
func Example() {
	if err := runExample(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// stdout: hello
	// ok
}

func runExample() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	dir, err := os.MkdirTemp("", "k")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "kernel.json")
	made := jupyter.Connection{
		Transport: "ipc", IP: filepath.Join(dir, "k"), Key: jupyter.NewKey(), SignatureScheme: "hmac-sha256",
		Shell: 1, IOPub: 2, Stdin: 3, Control: 4, HB: 5,
	}
	text, err := made.JSON()
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	kernel := exec.CommandContext(ctx, examplePython(), "-m", "ipykernel_launcher", "-f", file)
	kernel.Env = append(os.Environ(), "HOME="+dir, "IPYTHONDIR="+dir)
	if err := kernel.Start(); err != nil {
		return fmt.Errorf("run make tools: %w", err)
	}
	defer kernel.Wait()
	defer kernel.Process.Kill()
	return talk(ctx, file)
}

func talk(ctx context.Context, file string) error {
	conn, err := jupyter.ReadConnection(file)
	if err != nil {
		return err
	}
	client, err := jupyter.Dial(ctx, conn)
	if err != nil {
		return err
	}
	defer client.Close()
	reply, err := client.Execute(ctx, "print('hello')", jupyter.ExecuteOptions{Output: func(m jupyter.Message) {
		if s, ok := m.Stream(); ok {
			fmt.Printf("%s: %s", s.Name, s.Text)
		}
	}})
	if err != nil {
		return err
	}
	fmt.Println(reply.Status)
	return client.Shutdown(ctx, false)
}

func examplePython() string {
	if python := os.Getenv("KERNEL_LAUNCH_TEST_PYTHON"); python != "" {
		return python
	}
	return "../.tools/venv/bin/python"
}

func ExampleParseConnection() {
	_, err := jupyter.ParseConnection("kernel-7.json", []byte(`{"transport": "smtp", "ip": "127.0.0.1", "key": "k",
		"shell_port": 70000, "iopub_port": 2, "stdin_port": 3, "control_port": 4, "hb_port": 2}`))
	fmt.Println(err)
	// Output:
	// kernel-7.json: transport "smtp" is neither tcp nor ipc
	// kernel-7.json: shell_port 70000 is not within 0 to 65535
	// kernel-7.json: hb_port 2 is also iopub_port
}

func ExampleConnection_Endpoint() {
	conn := &jupyter.Connection{Transport: "tcp", IP: "::1", Shell: 50160}
	fmt.Println(conn.Endpoint(jupyter.Shell))
	// Output: tcp://[::1]:50160
}
