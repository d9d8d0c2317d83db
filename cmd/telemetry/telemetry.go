// Package telemetry sends traces and metrics to an OpenTelemetry collector. The variables are those that
// OpenTelemetry's SDKs have in common; without them nothing is made and nothing sent.
//
// The collector is a server of the operator's own, mostly on the same machine or in the same cluster, which the
// guarded client (ingest/outbound) exists to refuse; its address comes from the environment alone. So the exporters
// connect by themselves.
package telemetry

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	bridge "go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/prometheus/client_golang/prometheus"
)

// Config is what is sent.
type Config struct {
	Metrics prometheus.Gatherer // nil: none
	Version string
	// Texts says whether traces have what people wrote, and what errors say.
	Texts bool
	Log   *slog.Logger
}

// patience bounds how long the end of the process waits for the collector.
const patience = 5 * time.Second

// Start begins to send what the environment asks for until stop is called, which sends the rest.
func Start(ctx context.Context, cfg Config) (stop func(), err error) {
	traces, metrics := wanted("TRACES", cfg.Log), cfg.Metrics != nil && wanted("METRICS", cfg.Log)
	if !traces && !metrics {
		return func() {}, nil
	}
	of, err := resource.New(ctx, resource.WithTelemetrySDK(), resource.WithHost(),
		resource.WithAttributes(attribute.String("service.name", "almanac"),
			attribute.String("service.version", cfg.Version)),
		resource.WithFromEnv()) // the last one decides
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, err
	}
	otel.SetErrorHandler(&failures{log: cfg.Log, now: time.Now})
	var ends []func(context.Context) error
	if traces {
		exporter, err := otlptracehttp.New(ctx)
		if err != nil {
			return nil, err
		}
		var to sdktrace.SpanExporter = exporter
		if !cfg.Texts {
			to = withoutTexts{exporter}
		}
		p := sdktrace.NewTracerProvider(sdktrace.WithResource(of), sdktrace.WithBatcher(to))
		otel.SetTracerProvider(p)
		ends = append(ends, p.Shutdown)
	}
	if metrics {
		exporter, err := otlpmetrichttp.New(ctx)
		if err != nil {
			return nil, err
		}
		// What Prometheus reads is all there is, so both tell the same.
		have := sdkmetric.WithProducer(bridge.NewMetricProducer(bridge.WithGatherer(cfg.Metrics)))
		p := sdkmetric.NewMeterProvider(sdkmetric.WithResource(of),
			sdkmetric.WithReader(sdkmetric.NewPeriodicReader(exporter, have)))
		ends = append(ends, p.Shutdown)
	}
	cfg.Log.Info("telemetry is sent to the collector of the environment", "traces", traces, "metrics", metrics)
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		for _, end := range ends {
			if err := end(ctx); err != nil {
				cfg.Log.Warn("the last telemetry was not sent", "error", err)
			}
		}
	}, nil
}

// withoutTexts leaves out what people wrote, which is the attribute "query" of searches, and what errors say, which may
// quote it.
type withoutTexts struct{ sdktrace.SpanExporter }

// ExportSpans implements sdktrace.SpanExporter.
func (e withoutTexts) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	bare := make([]sdktrace.ReadOnlySpan, len(spans))
	for i, s := range spans {
		bare[i] = textless{s}
	}
	return e.SpanExporter.ExportSpans(ctx, bare)
}

type textless struct{ sdktrace.ReadOnlySpan }

func (s textless) Attributes() []attribute.KeyValue {
	return slices.DeleteFunc(slices.Clone(s.ReadOnlySpan.Attributes()),
		func(a attribute.KeyValue) bool { return a.Key == "query" })
}

func (s textless) Status() sdktrace.Status {
	return sdktrace.Status{Code: s.ReadOnlySpan.Status().Code}
}

// wanted reports whether a signal is sent: where a collector is named, unless it is turned off. What this program
// lacks is warned of and not sent, as the specification has it: a variable that is meant for all programs of a cluster
// must not keep one from starting.
func wanted(signal string, log *slog.Logger) bool {
	if strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") {
		return false
	}
	of := func(name string) (variable, value string) {
		variable = "OTEL_EXPORTER_OTLP_" + signal + "_" + name
		if value = os.Getenv(variable); value == "" {
			variable = "OTEL_EXPORTER_OTLP_" + name
			value = os.Getenv(variable)
		}
		return variable, value
	}
	variable := "OTEL_" + signal + "_EXPORTER"
	switch exporter := os.Getenv(variable); exporter {
	case "none":
		return false
	case "":
		if _, endpoint := of("ENDPOINT"); endpoint == "" {
			return false
		}
	case "otlp":
	default:
		log.Warn("this exporter does not exist here, nothing is sent: set it to otlp or none", "variable", variable,
			"value", exporter)
		return false
	}
	if variable, protocol := of("PROTOCOL"); cmp.Or(protocol, "http/protobuf") != "http/protobuf" {
		log.Warn("this protocol does not exist here, nothing is sent: set it to http/protobuf, and the port to that of "+
			"the collector's HTTP, which is mostly 4318", "variable", variable, "value", protocol)
		return false
	}
	return true
}

// failures logs what the exporters report, once a minute: while a collector is away they do so all the time.
type failures struct {
	log *slog.Logger
	now func() time.Time

	mu   sync.Mutex
	last time.Time
}

// Handle implements otel.ErrorHandler.
func (f *failures) Handle(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if now := f.now(); f.last.IsZero() || now.Sub(f.last) >= time.Minute {
		f.last = now
		f.log.Warn("telemetry could not be sent", "error", err)
	}
}
