package qdranttest

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"

	"almanac/testing/recordingtest"
)

const maxBody = 64 << 20 // bytes of a message

// GRPC is recordingtest.HTTP for a gRPC server without TLS: live and addr are
// host:port. Unary calls are recorded, with the code and text of a status but
// without its details or metadata. Messages are written as protobuf's JSON, so
// the test must import the package generated for the service; fields of a newer
// server that it lacks are left out.
func GRPC(t *testing.T, file, live string, o recordingtest.Options) (addr string) {
	t.Helper()
	var handle grpc.StreamHandler
	switch {
	case live == "":
		handle = grpcPlayer{recordingtest.Play(t, file, o)}.handle
	case recordingtest.Wanted():
		conn, err := grpc.NewClient(live, grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithDefaultCallOptions(grpc.ForceCodec(frames{}),
				grpc.MaxCallRecvMsgSize(maxBody), grpc.MaxCallSendMsgSize(maxBody)))
		if err != nil {
			t.Fatalf("qdranttest: %v", err)
		}
		handle = grpcRecorder{recordingtest.Record(t, file, o), conn}.handle
		t.Cleanup(func() {
			if err := conn.Close(); err != nil {
				t.Errorf("qdranttest: %v", err)
			}
		})
	default:
		return live
	}
	return serveGRPC(t, handle)
}

// serveGRPC serves every call by handle until the test ends.
func serveGRPC(t *testing.T, handle grpc.StreamHandler) (addr string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("qdranttest: %v", err)
	}
	server := grpc.NewServer(grpc.UnknownServiceHandler(handle), grpc.ForceServerCodec(frames{}),
		grpc.MaxRecvMsgSize(maxBody), grpc.MaxSendMsgSize(maxBody))
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	t.Cleanup(func() {
		server.Stop()
		if err := <-served; err != nil {
			t.Errorf("qdranttest: %v", err)
		}
	})
	return listener.Addr().String()
}

// grpcPlayer responds from a recording.
type grpcPlayer struct{ *recordingtest.Recording }

func (p grpcPlayer) handle(_ any, stream grpc.ServerStream) error {
	m, in, err := receive(stream)
	if err != nil {
		return fail(p.Recording, err)
	}
	body, err := m.toJSON(m.input, in)
	if err != nil {
		return fail(p.Recording, err)
	}
	reply, err := p.Answer(p.Request("", m.path, "", body))
	if err != nil {
		return status.Error(codes.Unimplemented, err.Error())
	}
	if reply.Status != int(codes.OK) {
		return status.Error(codes.Code(reply.Status), string(reply.Body))
	}
	out, err := m.fromJSON(m.output, reply.Body)
	if err != nil {
		return fail(p.Recording, err)
	}
	return stream.SendMsg(&out)
}

// grpcRecorder forwards to a server and keeps the calls.
type grpcRecorder struct {
	*recordingtest.Recording
	conn *grpc.ClientConn
}

func (p grpcRecorder) handle(_ any, stream grpc.ServerStream) error {
	m, in, err := receive(stream)
	if err != nil {
		return fail(p.Recording, err)
	}
	body, err := m.toJSON(m.input, in)
	if err != nil {
		return fail(p.Recording, err)
	}
	request := p.Request("", m.path, "", body)
	var out []byte
	err = p.conn.Invoke(forwarded(stream.Context()), m.path, &in, &out)
	if stream.Context().Err() != nil {
		return stream.Context().Err() // a client that gave up gets no response
	}
	if err != nil {
		s := status.Convert(err)
		p.Add(request, recordingtest.Reply{Status: int(s.Code()), Body: []byte(s.Message())})
		return err
	}
	answer, err := m.toJSON(m.output, out)
	if err != nil {
		return fail(p.Recording, err)
	}
	p.Add(request, recordingtest.Reply{Status: int(codes.OK), Body: answer})
	return stream.SendMsg(&out)
}

// fail reports an error in the test and to the client.
func fail(r *recordingtest.Recording, err error) error {
	r.Fail(err)
	return status.Error(codes.Internal, err.Error())
}

// forwarded returns a context for a call with the metadata of the incoming one.
func forwarded(ctx context.Context) context.Context {
	md, _ := metadata.FromIncomingContext(ctx)
	md = md.Copy()
	for name := range md {
		ours := strings.HasPrefix(name, ":") || strings.HasPrefix(name, "grpc-")
		if ours || name == "content-type" || name == "user-agent" {
			delete(md, name) // those of the call itself
		}
	}
	return metadata.NewOutgoingContext(ctx, md)
}

// method is a call's method in the description of its service.
type method struct {
	path          string
	input, output protoreflect.MessageDescriptor
}

// receive reads the request of a unary call.
func receive(stream grpc.ServerStream) (method, []byte, error) {
	path, _ := grpc.MethodFromServerStream(stream)
	m := method{path: path}
	service, name, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	d, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(service))
	if err != nil {
		return m, nil, fmt.Errorf("%s: the test imports no package with that service: %w", path, err)
	}
	var described protoreflect.MethodDescriptor
	if s, ok := d.(protoreflect.ServiceDescriptor); ok {
		described = s.Methods().ByName(protoreflect.Name(name))
	}
	if described == nil {
		return m, nil, fmt.Errorf("%s: there is no such method", path)
	}
	if described.IsStreamingClient() || described.IsStreamingServer() {
		return m, nil, fmt.Errorf("%s: streams are not recorded", path)
	}
	m.input, m.output = described.Input(), described.Output()
	var in []byte
	if err := stream.RecvMsg(&in); err != nil {
		return m, nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, in, nil
}

func (m method) toJSON(d protoreflect.MessageDescriptor, raw []byte) ([]byte, error) {
	message := dynamicpb.NewMessage(d)
	if err := proto.Unmarshal(raw, message); err != nil {
		return nil, fmt.Errorf("%s: %w", m.path, err)
	}
	text, err := protojson.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.path, err)
	}
	return text, nil
}

func (m method) fromJSON(d protoreflect.MessageDescriptor, text []byte) ([]byte, error) {
	message := dynamicpb.NewMessage(d)
	if err := protojson.Unmarshal(text, message); err != nil {
		return nil, fmt.Errorf("%s: %w", m.path, err)
	}
	raw, err := proto.Marshal(message)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.path, err)
	}
	return raw, nil
}

// frames is a codec that keeps messages as they are on the wire.
type frames struct{}

func (frames) Name() string { return "proto" } // of the content type

func (frames) Marshal(v any) ([]byte, error) {
	raw, ok := v.(*[]byte)
	if !ok {
		return nil, fmt.Errorf("%T is not a frame", v)
	}
	return *raw, nil
}

func (frames) Unmarshal(data []byte, v any) error {
	raw, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("%T is not a frame", v)
	}
	*raw = append([]byte(nil), data...)
	return nil
}
