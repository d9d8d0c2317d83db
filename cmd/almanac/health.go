package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

type healthCmd struct{}

func (healthCmd) Help() string {
	return `Calls /ready of the server on this machine, at the configured address
(server.listen), as health check of a container. Exit code 0: questions are
answered, even if engines are down. Exit code 1: the first index is not complete,
or no server answers.`
}

// healthPatience is the timeout of the request.
const healthPatience = 3 * time.Second

// Run prints "ready", or fails with one sentence about the reason.
func (healthCmd) Run(ctx context.Context, a *app) error {
	address, err := localAddress(a.config.Server.Listen)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/ready", nil)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: healthPatience} // no proxy
	res, err := client.Do(req)
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // the address is named below
	}
	if err != nil {
		return fmt.Errorf("no server answers on %s: %w", address, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if err != nil {
		return fmt.Errorf("the answer of the server on %s is incomplete: %w", address, err)
	}
	if res.StatusCode != http.StatusOK {
		var refusal struct{ Error string }
		_ = json.Unmarshal(body, &refusal) // if it is no JSON, the status is printed
		why, _, _ := strings.Cut(refusal.Error, "\n")
		return fmt.Errorf("the server on %s is not ready: %s", address, cmp.Or(why, res.Status))
	}
	_, err = fmt.Fprintln(a.out, "ready")
	return err
}

// localAddress returns the address of a listener on this machine.
func localAddress(listen string) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", err // the configuration was checked
	}
	if port == "0" {
		return "", fmt.Errorf("server.listen is %s, so the port is unknown: set it to the one in the server's log",
			listen)
	}
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		host = "127.0.0.1" // reaches a listener on :: too
	}
	return net.JoinHostPort(host, port), nil
}
