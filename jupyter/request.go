package jupyter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// KernelInfo is what a kernel says of itself.
type KernelInfo struct {
	Protocol              string       `json:"protocol_version"`
	Implementation        string       `json:"implementation"`
	ImplementationVersion string       `json:"implementation_version"`
	Language              LanguageInfo `json:"language_info"`
	Banner                string       `json:"banner"`
	Debugger              bool         `json:"debugger"`
	SupportedFeatures     []string     `json:"supported_features"`
}

// LanguageInfo is the language part of KernelInfo.
type LanguageInfo struct {
	Name          string `json:"name"`
	Version       string `json:"version"`
	MIMEType      string `json:"mimetype"`
	FileExtension string `json:"file_extension"`
}

// ReplyError is returned when a kernel answered a request with an error, or with something that cannot be read.
type ReplyError struct {
	Request string // the kind of request, such as "interrupt_request"
	Status  string
	Detail  string
}

func (e *ReplyError) Error() string {
	if e.Detail == "" {
		return fmt.Sprintf("%s: the kernel answered with status %q", e.Request, e.Status)
	}
	return fmt.Sprintf("%s: the kernel answered with status %q: %s", e.Request, e.Status, e.Detail)
}

const (
	infoAgain = time.Second           // a kernel_info_request is sent anew after this time without an answer
	iopubWait = 50 * time.Millisecond // how long the first output may take after the reply before it is asked for again
)

// KernelInfo waits until the kernel answers and its outputs arrive here as well, and returns the answer. It connects anew where the
// connection was lost, as after a restart. It asks until ctx ends: give it a deadline.
func (c *Client) KernelInfo(ctx context.Context) (KernelInfo, error) {
	q := newQueue()
	defer c.forget(q)
	for {
		if err := c.connect(ctx); err != nil {
			return KernelInfo{}, err
		}
		info, ok, err := c.askInfo(ctx, q)
		if ok || err != nil {
			return info, err
		}
		select {
		case <-time.After(redialAfter): // a peer that closes at once is not dialled without pause
		case <-ctx.Done():
			return KernelInfo{}, context.Cause(ctx)
		}
	}
}

// askInfo asks once. A subscription takes effect some time after it was sent, so the answer counts only with an output beside it.
func (c *Client) askInfo(ctx context.Context, q *queue) (info KernelInfo, ok bool, err error) {
	m, err := newMessage("kernel_info_request", c.session, struct{}{})
	if err != nil {
		return info, false, err
	}
	if err := c.send(ctx, Shell, m, q); err != nil {
		return info, false, c.unlessLost(ctx, err)
	}
	reply, err := c.await(ctx, q, Shell, "kernel_info_reply", infoAgain)
	if reply == nil {
		return info, false, c.unlessLost(ctx, err)
	}
	if err := json.Unmarshal(reply.Content, &info); err != nil {
		return info, false, &ReplyError{"kernel_info_request", "", err.Error()}
	}
	iopub := c.wire(IOPub)
	select {
	case <-iopub.seen:
		return info, true, nil
	case <-iopub.lost:
	case <-time.After(iopubWait):
	case <-ctx.Done():
		return info, false, context.Cause(ctx)
	}
	return info, false, nil
}

// unlessLost drops the error of a connection that may be dialled again.
func (c *Client) unlessLost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if c.life.Err() != nil {
		return ErrClosed
	}
	if w := c.wire(Shell); w != nil && !w.alive() {
		return nil
	}
	return err
}

// await returns the first message of a kind that q gets; nil when limit has passed (0: no limit).
func (c *Client) await(ctx context.Context, q *queue, ch Channel, kind string, limit time.Duration) (*Message, error) {
	var timeout <-chan time.Time
	if limit > 0 {
		timeout = time.After(limit)
	}
	w := c.wire(ch)
	for {
		for _, m := range q.popAll() {
			if m.Header.Type == kind && m.Channel == ch {
				return &m, nil
			}
		}
		select {
		case <-q.filled:
		case <-w.lost:
			return nil, c.lost(w)
		case <-timeout:
			return nil, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (c *Client) lost(w *wire) error {
	if c.life.Err() != nil {
		return ErrClosed
	}
	return w.err
}

// ready makes sure that requests reach the kernel and that its outputs reach us.
func (c *Client) ready(ctx context.Context) error {
	for _, ch := range dialled {
		if w := c.wire(ch); w == nil || !w.alive() {
			return c.inform(ctx)
		}
	}
	select {
	case <-c.wire(IOPub).seen:
		return nil
	default:
		return c.inform(ctx)
	}
}

func (c *Client) inform(ctx context.Context) error {
	_, err := c.KernelInfo(ctx)
	return err
}

// control sends a request on the control channel and waits for its answer.
func (c *Client) control(ctx context.Context, kind, answer string, content any) error {
	if err := c.connect(ctx); err != nil {
		return err
	}
	q := newQueue()
	defer c.forget(q)
	m, err := newMessage(kind, c.session, content)
	if err != nil {
		return err
	}
	if err := c.send(ctx, Control, m, q); err != nil {
		return err
	}
	reply, err := c.await(ctx, q, Control, answer, 0)
	if err != nil {
		return err
	}
	return replyStatus(kind, reply)
}

func replyStatus(kind string, reply *Message) error {
	var content struct {
		Status string `json:"status"`
		Exception
	}
	if err := json.Unmarshal(reply.Content, &content); err != nil {
		return &ReplyError{kind, "", err.Error()}
	}
	if content.Status == "error" {
		return &ReplyError{kind, content.Status, content.Exception.Error()}
	}
	return nil // some kernels leave the status out
}

// Interrupt asks the kernel to interrupt what it runs and waits for its answer. Kernels whose kernelspec says interrupt_mode "signal" may
// never answer (IRkernel): for those, the process is signalled instead.
func (c *Client) Interrupt(ctx context.Context) error {
	return c.control(ctx, "interrupt_request", "interrupt_reply", struct{}{})
}

// Shutdown asks the kernel to end, and says whether to expect a restart. A connection that the kernel closes instead of answering is
// an answer; a kernel that does not listen is tried until ctx ends.
func (c *Client) Shutdown(ctx context.Context, restart bool) error {
	err := c.control(ctx, "shutdown_request", "shutdown_reply", map[string]bool{"restart": restart})
	var lost *LostError
	if errors.As(err, &lost) && !errors.Is(err, ErrClosed) {
		return nil
	}
	return err
}
