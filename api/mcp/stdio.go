package mcp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// ServeStdio serves one client on standard input and output until it
// disconnects or ctx ends. query selects tools as in the address over HTTP:
// "toolsets=cips,search&tools=get_doc&schemas=1"; "" = the default set.
func (s *Server) ServeStdio(ctx context.Context, query string) error {
	return s.Serve(ctx, query, os.Stdin, struct {
		io.Writer
		io.Closer
	}{os.Stdout, io.NopCloser(nil)})
}

// stdioPatience is how long a call over stdio waits for the index: the client
// started the program a moment ago, and has nobody else to ask.
const stdioPatience = 10 * time.Second

// Serve is ServeStdio on any streams, which it closes.
func (s *Server) Serve(ctx context.Context, query string, in io.ReadCloser, out io.WriteCloser) error {
	v, err := s.tools.view(query)
	if err != nil {
		return fmt.Errorf("mcp: %w", err)
	}
	checked, pass := io.Pipe()
	to := &shared{WriteCloser: out}
	go func() { _ = pass.CloseWithError(checkLines(in, pass, to)) }() // it has no other error
	t := &sdk.IOTransport{Reader: source{checked, in}, Writer: to}
	ctx = withRequest(ctx, request{view: v, patience: stdioPatience})
	if err := s.sdk.Run(ctx, t); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("mcp: serve: %w", err)
	}
	return nil
}

// checkLines passes on the messages of a client, each on a line. It answers what is no
// message as post does, because the SDK would end at it.
func checkLines(in io.Reader, pass, out io.Writer) error {
	r := bufio.NewReaderSize(in, MaxBody)
	for {
		line, err := r.ReadSlice('\n')
		long := errors.Is(err, bufio.ErrBufferFull)
		for errors.Is(err, bufio.ErrBufferFull) {
			_, err = r.ReadSlice('\n')
		}
		if line = bytes.TrimSpace(bytes.TrimPrefix(line, byteOrderMark)); len(line) > 0 {
			to, text := pass, bytes.Clone(line)
			if refusal := checkLine(line, long); refusal != nil {
				to, text = out, refusal
			}
			if _, err := to.Write(append(text, '\n')); err != nil {
				return err
			}
		}
		if err != nil {
			return err
		}
	}
}

// byteOrderMark is what some programs write before the first line of a stream.
var byteOrderMark = []byte("\ufeff")

// checkLine is the answer to a line that is no message; nil: it is one.
func checkLine(line []byte, long bool) []byte {
	if long {
		return message{}.refusal(failure(jsonrpc.CodeInvalidRequest, "a message must be at most %d KiB long", MaxBody>>10))
	}
	if m, wrong := parseMessage(line); wrong != nil {
		return m.refusal(wrong)
	}
	return nil
}

// source is what is checked of a stream.
type source struct {
	io.ReadCloser
	in io.Closer
}

// Close implements io.Closer.
func (s source) Close() error { return errors.Join(s.ReadCloser.Close(), s.in.Close()) }

// shared is a stream that two write lines to.
type shared struct {
	mu sync.Mutex // guards writing
	io.WriteCloser
}

// Write implements io.Writer.
func (s *shared) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.WriteCloser.Write(line)
}
