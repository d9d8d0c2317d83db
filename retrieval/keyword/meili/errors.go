package meili

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/meilisearch/meilisearch-go"
)

// ErrForeign is wrapped by the error for an index that is not this catalog's:
// nothing is read from it or written to it.
var ErrForeign = errors.New("the index belongs to something else")

// Error codes of the server.
const (
	indexNotFound    = "index_not_found"
	documentNotFound = "document_not_found"
	invalidKey       = "invalid_api_key"
	noKey            = "missing_authorization_header"
	diskFull         = "no_space_left_on_device"
)

// hasCode reports whether the server refused a request with the code.
func hasCode(err error, code string) bool {
	var failure *meilisearch.Error
	return errors.As(err, &failure) && failure.MeilisearchApiError.Code == code
}

// failed returns an error that says in one sentence what was attempted and why
// it failed. It includes neither the key nor anything else of the request.
func (e *Engine) failed(ctx context.Context, attempt string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("meili: %s: %w", attempt, context.Cause(ctx))
	}
	var failure *meilisearch.Error
	isReply := errors.As(err, &failure)
	switch {
	case errors.Is(err, errAnswerTooLarge):
		return fmt.Errorf("meili: %s: the response of %s has more than %d MB", attempt, e.host, maxAnswer>>20)
	case isReply && failure.StatusCode == 0:
		return fmt.Errorf("meili: %s: %s", attempt, e.unreached(failure.OriginError))
	case !isReply && (errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, new(net.Error))):
		return fmt.Errorf("meili: %s: %s", attempt, e.unreached(err))
	case !isReply:
		return fmt.Errorf("meili: %s: %w", attempt, err)
	}
	code, message := failure.MeilisearchApiError.Code, sentence(failure.MeilisearchApiError.Message)
	status := fmt.Sprintf("%d %s", failure.StatusCode, http.StatusText(failure.StatusCode))
	switch {
	case code == invalidKey:
		return fmt.Errorf("meili: %s: %s refuses the API key (%s): it is wrong, or lacks the right to do this or to "+
			"use this index", attempt, e.host, status)
	case code == noKey:
		return fmt.Errorf("meili: %s: %s requires an API key (%s) and none is configured", attempt, e.host, status)
	case failure.StatusCode == http.StatusRequestEntityTooLarge:
		return fmt.Errorf("meili: %s: %s refuses payloads as large as ours (%s): raise its payload limit, and that "+
			"of proxies in front of it, above %d MB", attempt, e.host, status, maxPayload>>20)
	case code == diskFull:
		return fmt.Errorf("meili: %s: the disk of %s is full (%s)", attempt, e.host, status)
	case code != "" && failure.StatusCode < 500:
		return fmt.Errorf("meili: %s: %s returned %s: %s (%s)", attempt, e.host, status, message, code)
	case code != "":
		return fmt.Errorf("meili: %s: %s returned %s: %s (%s)", attempt, e.host, status,
			message, code)
	case failure.StatusCode == http.StatusBadGateway || failure.StatusCode == http.StatusServiceUnavailable ||
		failure.StatusCode == http.StatusGatewayTimeout:
		return fmt.Errorf("meili: %s: %s returned %s", attempt, e.host, status)
	}
	return fmt.Errorf("meili: %s: the server at %s is not Meilisearch (%s): check the URL", attempt, e.host, status)
}

// sentence makes a server's message fit into one of ours.
func sentence(message string) string {
	return strings.TrimSuffix(strings.Join(strings.Fields(message), " "), ".")
}

// unreached says why there was no response.
func (e *Engine) unreached(err error) string {
	var name *net.DNSError
	var unknown x509.UnknownAuthorityError
	var hostname x509.HostnameError
	var invalid x509.CertificateInvalidError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var operation *net.OpError
	var timeout net.Error
	switch {
	case errors.As(err, &name):
		return fmt.Sprintf("the name %s does not resolve", name.Name)
	case errors.As(err, &unknown):
		return fmt.Sprintf("the certificate of %s is signed by an authority that is not trusted here", e.host)
	case errors.As(err, &hostname):
		return fmt.Sprintf("the certificate of %s is for another name", e.host)
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return fmt.Sprintf("the certificate of %s is not valid today", e.host)
	case errors.As(err, &certificate):
		return fmt.Sprintf("the certificate of %s is not valid", e.host)
	case errors.As(err, &record), err != nil &&
		strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return fmt.Sprintf("%s does not speak TLS: the URL should begin with http:", e.host)
	case errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Sprintf("no answer from %s within %v", e.host, e.timeout)
	case errors.As(err, &operation):
		return fmt.Sprintf("no connection to %s: %v", e.host, operation.Err)
	}
	return fmt.Sprintf("the connection to %s broke", e.host)
}

// A task is polled soon, as most are short, and then less and less often.
const (
	firstLook  = 2 * time.Millisecond
	slowestGap = 250 * time.Millisecond
	complain   = time.Minute // wait after which it is logged
)

// await waits for a task; err is the error of the request that was to enqueue
// it. The server processes one queue, for all of its indexes, in order.
func (e *Engine) await(ctx context.Context, attempt string, info *meilisearch.TaskInfo, err error) error {
	if err != nil {
		return e.failed(ctx, attempt, err)
	}
	begun := time.Now()
	logged := begun
	for gap := firstLook; ; gap = min(gap*3/2, slowestGap) {
		select {
		case <-ctx.Done():
			return e.failed(ctx, attempt, ctx.Err())
		case <-time.After(gap):
		}
		task, err := e.client.GetTaskWithContext(ctx, info.TaskUID)
		if hasCode(err, "task_not_found") {
			return fmt.Errorf("meili: %s: %s has forgotten task %d: it was restarted empty", attempt,
				e.host, info.TaskUID)
		}
		if err != nil {
			return e.failed(ctx, attempt, err)
		}
		switch task.Status {
		case meilisearch.TaskStatusSucceeded:
			return nil
		case meilisearch.TaskStatusFailed:
			if task.Error.Code == diskFull {
				return fmt.Errorf("meili: %s: the disk of %s is full: %s", attempt, e.host,
					sentence(task.Error.Message))
			}
			return fmt.Errorf("meili: %s: task %d of %s failed: %s (%s)", attempt, info.TaskUID, e.host,
				sentence(task.Error.Message), task.Error.Code)
		case meilisearch.TaskStatusCanceled:
			return fmt.Errorf("meili: %s: task %d of %s was cancelled there", attempt, info.TaskUID, e.host)
		}
		if time.Since(logged) >= complain {
			logged = time.Now()
			e.log.Warn("the server's queue is slow", "attempt", attempt, "task", info.TaskUID, "status", task.Status,
				"waited", time.Since(begun).Round(time.Second))
		}
	}
}
