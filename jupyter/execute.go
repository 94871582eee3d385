package jupyter

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// ExecuteOptions say how a cell is run. The zero value runs it as `silent: false`, stores no history, allows no input and aborts nothing.
type ExecuteOptions struct {
	Silent       bool // no output but streams, no history, no execution count
	StoreHistory bool
	StopOnError  bool // an error aborts what is queued behind
	AllowStdin   bool // the cell may ask for input; Input must be set

	// Output gets each output as it comes, in order: stream, display_data, execute_result, error, status, clear_output and what else the
	// kernel publishes. It must not call Execute or KernelInfo of the same client. While it runs, further outputs wait.
	Output func(Message)

	// Input answers a question of the cell. Password asks for input that is not shown.
	Input func(prompt string, password bool) (string, error)
}

// ExecuteReply is how a cell ended.
type ExecuteReply struct {
	Status         string // "ok", "error", or "aborted" ("abort" from IRkernel, which also says so when it was interrupted)
	ExecutionCount int
	Exception      *Exception // with status "error"
	Complete       bool       // the kernel said that no more output comes; false when it stayed silent for 10 s after its reply
	Content        json.RawMessage
}

// Execute runs code and returns when the kernel has replied and all output was handed on. An exception in the code is not an error of
// Execute: see ExecuteReply. When ctx ends it returns at once; the cell runs on unless it is interrupted.
func (c *Client) Execute(ctx context.Context, code string, o ExecuteOptions) (*ExecuteReply, error) {
	if o.AllowStdin && o.Input == nil {
		return nil, errors.New("execute: AllowStdin is set and Input is not")
	}
	if err := c.ready(ctx); err != nil {
		return nil, err
	}
	m, err := newMessage("execute_request", c.session, executeContent(code, o))
	if err != nil {
		return nil, err
	}
	x := execution{client: c, o: o, q: newQueue(), request: m.Header, shell: c.wire(Shell), iopub: c.wire(IOPub)}
	defer c.forget(x.q)
	if err := c.send(ctx, Shell, m, x.q); err != nil {
		return nil, err
	}
	return x.run(ctx)
}

func executeContent(code string, o ExecuteOptions) map[string]any {
	return map[string]any{
		"code": code, "silent": o.Silent, "store_history": o.StoreHistory && !o.Silent, "user_expressions": struct{}{},
		"allow_stdin": o.AllowStdin, "stop_on_error": o.StopOnError,
	}
}

// execution is one execute_request that waits for its reply and for idle.
type execution struct {
	client       *Client
	o            ExecuteOptions
	q            *queue
	request      Header
	shell, iopub *wire

	reply *ExecuteReply
	idle  bool
}

func (x *execution) run(ctx context.Context) (*ExecuteReply, error) {
	for {
		var lost error
		select {
		case <-x.q.filled:
		case <-x.shell.lost:
			lost = x.client.lost(x.shell)
		case <-x.iopub.lost:
			lost = x.client.lost(x.iopub)
		case <-x.silence():
			return x.reply, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if err := x.handle(ctx, x.q.popAll()); err != nil {
			return nil, err
		}
		if x.reply != nil && x.idle {
			x.reply.Complete = true
			return x.reply, nil
		}
		if lost != nil {
			return x.reply, lost
		}
	}
}

// silence fires only once a reply is there.
func (x *execution) silence() <-chan time.Time {
	if x.reply == nil {
		return nil
	}
	return time.After(x.client.idleWait)
}

func (x *execution) handle(ctx context.Context, messages []Message) error {
	for _, m := range messages {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := x.one(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

func (x *execution) one(ctx context.Context, m Message) error {
	switch {
	case m.Channel == IOPub:
		if s, ok := m.Status(); ok && s == "idle" {
			x.idle = true
		}
		if x.o.Output != nil {
			x.o.Output(m)
		}
	case m.Channel == Shell && m.Header.Type == "execute_reply":
		return x.replied(m)
	case m.Channel == Stdin && m.Header.Type == "input_request":
		return x.answer(ctx, m)
	}
	return nil
}

func (x *execution) replied(m Message) error {
	var content struct {
		Status string `json:"status"`
		Count  int    `json:"execution_count"`
		Exception
	}
	if err := json.Unmarshal(m.Content, &content); err != nil {
		return &ReplyError{"execute_request", "", err.Error()}
	}
	x.reply = &ExecuteReply{Status: content.Status, ExecutionCount: content.Count, Content: m.Content}
	if content.Status == "error" {
		e := content.Exception
		x.reply.Exception = &e
	}
	return nil
}

// answer replies to a question. One that comes although none was allowed gets an empty line, so that the cell does not wait for ever.
func (x *execution) answer(ctx context.Context, m Message) error {
	var question struct {
		Prompt   string `json:"prompt"`
		Password bool   `json:"password"`
	}
	if err := json.Unmarshal(m.Content, &question); err != nil {
		return &ReplyError{"input_request", "", err.Error()}
	}
	var value string
	if x.o.AllowStdin {
		var err error
		if value, err = x.o.Input(question.Prompt, question.Password); err != nil {
			return err
		}
	}
	reply, err := newMessage("input_reply", x.client.session, map[string]string{"value": value})
	if err != nil {
		return err
	}
	reply.Parent = m.Header
	return x.client.send(ctx, Stdin, reply, nil)
}
