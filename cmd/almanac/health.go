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
	return `It asks /ready of the server on this machine, at the configured address
(server.listen), as container engines do over and over. Exit code 0: the first
index is complete, and questions are answered, with all engines or without
some. Exit code 1: not yet, or nothing answers there.`
}

// healthPatience is how long the server has for its answer.
const healthPatience = 3 * time.Second

// Run says in one sentence what keeps the server from being ready.
func (healthCmd) Run(ctx context.Context, a *app) error {
	address, err := localAddress(a.config.Server.Listen)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/ready", nil)
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: healthPatience} // and no proxy
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
		return fmt.Errorf("the answer of the server on %s broke off: %w", address, err)
	}
	if res.StatusCode != http.StatusOK {
		var refusal struct{ Error string }
		_ = json.Unmarshal(body, &refusal) // else the status must do
		why, _, _ := strings.Cut(refusal.Error, "\n")
		return fmt.Errorf("the server on %s is not ready: %s", address, cmp.Or(why, res.Status))
	}
	_, err = fmt.Fprintln(a.out, "ready")
	return err
}

// localAddress is where a listener is reached from its own machine.
func localAddress(listen string) (string, error) {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return "", err // the configuration was checked
	}
	if port == "0" {
		return "", fmt.Errorf("server.listen is %s, so the port is any: set it to the one that the server's log tells", listen)
	}
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		host = "127.0.0.1" // a listener on :: takes it too
	}
	return net.JoinHostPort(host, port), nil
}
