package envs_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/kernel-launch/kernel-launch/envs"
)

func ExampleStore_Get() {
	root, err := os.MkdirTemp("", "envs")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(root)
	s := &envs.Store{Root: root}
	_, err = s.Get("study")
	var missing *envs.NotFoundError
	fmt.Println(errors.As(err, &missing), err)
	// Output: true no environment "study"
}

func ExampleCheckName() {
	fmt.Println(envs.CheckName("../study"))
	// Output: environment name "../study": the first character must be a letter or a digit
}

func ExampleStore_Create() {
	root, err := os.MkdirTemp("", "envs")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(root)
	s := &envs.Store{Root: root + "/envs", Work: root + "/install"}
	_, err = s.Create(context.Background(), envs.CreateOptions{Name: "study", Python: "/no/such/python3"})
	fmt.Println(err)
	// Output: no interpreter for python "/no/such/python3": /no/such/python3: not found
}

func ExampleFindIndex() {
	i, err := envs.FindIndex(envs.IndexSources{Configured: "https://ann:secret@mirror.example.org/simple/", Goos: "linux", Getenv: func(string) string { return "" }, Home: "/home/ann"})
	fmt.Println(i.URL, i.Source, i.Credentials, err)
	// Output: https://mirror.example.org/simple install.index *** <nil>
}

func ExampleStore_List() {
	s := &envs.Store{Root: "/no/such/folder"}
	list, errs := s.List()
	fmt.Println(len(list), len(errs))
	// Output: 0 0
}

func ExampleNewGateway() {
	index := httptest.NewServer(http.NotFoundHandler())
	defer index.Close()
	g, err := envs.NewGateway(envs.IndexSettings{URL: index.URL + "/simple"}, index.Client())
	if err != nil {
		fmt.Println(err)
		return
	}
	answer := httptest.NewRecorder()
	g.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/simple/numpy/", nil))
	fmt.Println(answer.Code, g.Failures()[0].Cause, g.Failures()[0].Status)
	// Output: 404 status 404
}
