"""Ways to write the parts of a request: the usual ones, and those that somebody once read differently.

Marks: `{port}` and `{authority}` of the upstream, `{placeholder}` of the credential, `{n}` the length of the
body, `{x}` that of a chunk.
"""

from __future__ import annotations

from support.home import PLACEHOLDER

type Line = tuple[bytes, bytes]

METHODS = [b"GET", b"POST", b"PUT", b"PATCH", b"DELETE", b"HEAD", b"OPTIONS"]
ODD_METHODS = [
    b"get", b"Post", b"CONNECT", b"TRACE", b"PROPFIND", b"X-GET", b"G\x00ET", b"GE\x01T", b"G ET", b"", b"GET\t",
    b"\xff", b"POS\xc5\xbfT", b"A" * 300, b"GET/", b"G{ET", b"PRI", b"_", b"M-SEARCH", b"\x0bGET", b"GET:",
]  # fmt: skip
VERSIONS = [
    b"HTTP/1.0", b"HTTP/2.0", b"HTTP/3.0", b"HTTP/0.9", b"HTTP/1.2", b"HTTP/9.9", b"http/1.1", b"HTTP/1.1 ",
    b"HTTP/1.10", b"", b"HTTP/1", b"HTTP/1.\xb2", b"HTTPS/1.1", b"HTTP/2", b"HTTP/1.1\x00",
]  # fmt: skip
SEPARATORS = [b"  ", b"\t", b"\x0b", b"\x0c", b"\r", b"\xa0", b"\x00", b"", b" \x85 "]
PATHS = [
    b"/echo", b"/", b"/v1/a%2Fb", b"/v1/items?x=1&y=%20", b"/a;v=1", b"/caf%C3%A9", b"/x?", b"/x??y", b"/100%25",
    b"/a+b", b"/.well-known/x", b"/echo?%2e%2e/admin", b"/echo?q=\xc3\xa9",
]  # fmt: skip
ODD_PATHS = [
    b"*", b"", b"echo", b"//admin", b"/./admin", b"/x/../admin", b"/%2e%2e/admin", b"/x/%2E./admin", b"/x\\..\\admin",
    b"/ADMIN", b"/%61dmin", b"/a%64min/x", b"/%2561dmin", b"/admin;x", b"/admin%00", b"/x#frag", b"/x?a#b", b"/a b",
    b"/\x00", b"/\x7f", b"/\xff", b"/caf\xc3\xa9", b"/%c0%ae", b"/%", b"/%zz", b"/a\x0bb", b"/admin/", b"/x//y",
    b"/" + b"a" * 4000, b"/?" + b"%41" * 300, b"/x%0d%0aX-A:%20b", b"/\xe2\x80\xa8", b"/x|y", b'/x"<>`{}^', b"/%F0%9F%98%80",
    b"/admin%2Fx", b"/%2Fadmin", b"/admin%252fx", b"/%2F%2Fadmin%2f", b"/admin%3Bx", b"?x", b"/;x", b"/..;/admin", b"/x/..%2fadmin", b"/.", b"/x/.", b"/%2F", b"/a%2f..%2fadmin", b"/\xef\xbc\x8e\xef\xbc\x8e/admin",
    b"/x\t", b"/x?a\tb", b"/x?\x80", b"/x?\x01", b"/a%5cb", b"/a%255cb", b"/x?\xe2\x80\xa8",
]  # fmt: skip
HOSTS = [
    b"LOCALHOST:{port}", b"localhost.:{port}", b"localhost", b"localhost:443", b"evil.test", b"", b"localhost:0{port}",
    b"localhost:{port}, evil.test", b"user@localhost:{port}", b"localhost:{port}@evil.test", b"127.0.0.1:{port}",
    b"localhost:{port}/", b"localhost:{port}\x00", b"[::1]:{port}", b"localhost:+{port}", b"localhost: {port}",
    b"evil.test#localhost:{port}", b"localhost:{port}\t", b"\xefocalhost:{port}", b"loc\xc4\xb0lhost:{port}",
    b"localhost:99999", b"localhost:", b":{port}", b"localhost:{port}:{port}", b"localhost\x0b:{port}",
]  # fmt: skip
HOST_NAMES = [
    b"host",
    b"HOST",
    b"Host ",
    b" Host",
    b"Ho\x00st",
    b"X-Host",
    b"Host\t",
    b"H_ost",
    b"X-Forwarded-Host",
]
LINES = [
    b"X-A: 1", b"x-a:1", b"X-A:", b"X_A: 1", b"X-A:  two  ", b"X-A: \xe9", b"X-A: a\tb", b"X-A: " + b"v" * 2000,
    b"Accept: */*", b"Content-Type: application/json", b"Cookie: a=1", b"Cookie: b=2", b"Expect: 100-continue",
    b"Accept-Encoding: gzip, br", b"Authorization: Bearer {placeholder}", b"X-Api-Key: mine",
]  # fmt: skip
ODD_LINES = [
    b"X-A : 1", b"X-A\t: 1", b" X-A: 1", b"X A: 1", b"X-A 1", b": 1", b"X-\x00A: 1", b"X-A: a\x00b", b"X-A: a\rb",
    b"X-A: a\nb", b"X-A: a\x0bb", b"X-A: a\x0cb", b"X-A: a\x01b", b"X-A: a\x7fb", b"X-A: \x85", b"X-A: a\x1fb", b"X-A: a\x1cX-B: b",
    b"X-A: 1\r\n 2", b"X-A: 1\r\n\tX-B: 2", b"X-A:\r\n ", b"X-\xe9: 1", b"X-(A): 1", b"\x0bX-A: 1", b"\xa0X-A: 1", b"X-A\xa0: 1",
    b"Connection: close", b"Connection: keep-alive", b"Connection: Host", b"Connection: Authorization, X-A",
    b"Connection: Content-Length", b"Connection: Transfer-Encoding", b"Connection: X-Ghost-Token", b"Connection: close, X-A",
    b"Connection: upgrade", b"Connection: \x00", b"Connection: content_length", b"Proxy-Connection: keep-alive, X-A",
    b"Upgrade: websocket", b"Upgrade: h2c", b"Upgrade: websocket, h2c", b"HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA",
    b"Keep-Alive: 5", b"TE: trailers", b"TE: trailers, deflate", b"TE: gzip", b"te: trailers", b"Trailer: X-A", b"Trailer: Content-Length",
    b"Expect: 100-continue, x", b"Expect: nothing", b"Expect: 100-Continue", b"Expect:", b"Expect: 100-continue\r\nExpect: 100-continue",
    b"X-Ghost-Token: ghwire_x.y", b"x_ghost_token: mine", b"X-HTTP-Method-Override: DELETE", b"X-Method: PUT",
    b"Authorization: Basic YTpi", b"authorization: one\r\nAuthorization: two", b"Author\xc4\xb0zation: x", b"Authorization : x",
    b"Proxy-Authorization: Basic AAAA", b"proxy_authorization: x", b"Proxy-Foo: x", b"X-Forwarded-For: 127.0.0.1", b"Forwarded: host=evil",
    b"X-Original-URL: /admin", b"X-Rewrite-URL: /admin", b":method: GET", b":path: /admin", b"Host_: evil", b"Content-Encoding: gzip",
    b"Content-Type: application/x-www-form-urlencoded", b"Content-Type: multipart/form-data; boundary=x", b"Range: bytes=0-1", b"Via: 1.1 x",
    b"Max-Forwards: 0", b"Alt-Used: evil", b"Transfer-Encoding\r\n: chunked", b"If-None-Match: *",
]  # fmt: skip
FRAMES = [
    b"Content-Length: {n}", b"Content-Length: +{n}", b"Content-Length: {n}\r\nContent-Length: {n}", b"Content-Length: {n}, {n}",
    b"Content-Length: {n}\r\nContent-Length: 0", b"Content-Length: 0x{n}", b"Content-Length: 0{n}", b"Content-Length: {n}\x0b", b"Content-Length:",
    b"Content-Length: -1", b"Content-Length: 99999999999999999999", b"Content-Length: 1_0", b"Content-Length: \xb2", b"Content_Length: {n}",
    b"Content-Length: {n}.0", b"Content-Length: {n}\r\n ", b"Content-Length : {n}", b"content-length: 0\r\nContent_Length: {n}",
    b"Content-Length: 5\r\nTransfer-Encoding: chunked", b"Transfer-Encoding: chunked", b"transfer-encoding: Chunked",
    b"Transfer-Encoding: CHUNKED", b"Transfer-Encoding: chunked, chunked", b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    b"Transfer-Encoding: gzip, chunked", b"Transfer-Encoding: chunked, identity", b"Transfer-Encoding: identity", b"Transfer-Encoding: xchunked",
    b"Transfer-Encoding:\x0bchunked", b"Transfer-Encoding: chunked\x0b", b'Transfer-Encoding: "chunked"', b"Transfer-Encoding: chunked;q=1",
    b"Transfer-Encoding:\r\n chunked", b"Transfer-Encoding: chun\x00ked", b"Transfer_Encoding: chunked", b"X-A: b\r\n\tTransfer-Encoding: chunked",
    b"Transfer-Encoding : chunked", b"Transfer-Encoding: ,chunked", b"Transfer-Encoding:", b"Transfer-Encoding: chun\xc5\xa7ed",
    b"Transfer-Encoding: \xe2\x84\xaahunked", b"Transfer-Encoding: chunked\r\nContent_Length: {n}", b"Transfer-Encoding: deflate,chunked",
]  # fmt: skip
SIZES = [
    b"{x}", b"0{x}", b"00000000000000000{x}", b"{x} ", b" {x}", b"{x};a=b", b'{x};a="\r\n"', b"{x};", b"0x{x}", b"+{x}", b"-{x}", b"{x}\t", b"{x}_",
    b"{x};\n", b"{x}\n", b"", b"g", b"ffffffffffffffff", b"10000000000000000{x}", b"{x};\x00", b"\xb2", b"{x};" + b"e" * 1000, b"{x} ; a",
]  # fmt: skip
TRAILERS = [
    b"", b"X-T: 1\r\n", b"Content-Length: 5\r\n", b"Host: evil\r\n", b"Authorization: x\r\n", b"X-T 1\r\n", b" X-T: 1\r\n", b"X-T: a\x00\r\n",
    b"Transfer-Encoding: chunked\r\n", b"X-T: 1\n", b":path: /\r\n",
]  # fmt: skip
BODIES = [
    b"",
    b"{}",
    b"hello",
    b'{"amount": 1}',
    b"GET /admin HTTP/1.1\r\nHost: x\r\n\r\n",
    b"0\r\n\r\n",
    b"a=1&_method=DELETE",
    b"x" * 3_000,
]
ENDS = [b"\n", b"\r", b"\r\n\r\n", b"\n\r\n", b"\r\r\n", b"", b" \r\n", b"\r\n "]
NOISE = [
    b"\x00",
    b"\r",
    b"\n",
    b"\t",
    b" ",
    b":",
    b",",
    b";",
    b"\x0b",
    b"\x85",
    b"\xff",
    b"\r\n",
    b"\x7f",
    b"%",
    b"/",
]
LINES_2: list[Line] = [
    (b"x-a", b"1"), (b"x_a", b"1"), (b"x-a", b""), (b"x-a", b"\xe9"), (b"accept", b"*/*"), (b"content-type", b"application/json"),
    (b"cookie", b"a=1"), (b"cookie", b"b=2"), (b"authorization", b"Bearer " + PLACEHOLDER.encode()), (b"te", b"trailers"),
    (b"accept-encoding", b"gzip"), (b"expect", b"100-continue"),
]  # fmt: skip
ODD_LINES_2: list[Line] = [
    (b"X-A", b"1"), (b"x-A", b"1"), (b"", b"1"), (b"x a", b"1"), (b"x:a", b"1"), (b"x-a\x00", b"1"), (b"x-a\r\nx-b", b"1"), (b"x-\xe9", b"1"),
    (b"x-a", b"a\r\nx-b: 1"), (b"x-a", b"a\nb"), (b"x-a", b"a\x00b"), (b"x-a", b" a"), (b"x-a", b"a "), (b"x-a", b"a\tb"), (b"x-a", b"a\x0bb"),
    (b"x-a", b"a\x01b"), (b"x-a", b"a\x7fb"), (b"x-a", b"\x85"), (b"x(a", b"1"), (b'x"a', b"1"), (b"x/a", b"1"),
    (b"connection", b"close"), (b"connection", b"x-a"), (b"keep-alive", b"5"), (b"proxy-connection", b"x"), (b"upgrade", b"websocket"),
    (b"upgrade", b"h2c"), (b"transfer-encoding", b"chunked"), (b"transfer_encoding", b"chunked"), (b"te", b"gzip"), (b"te", b"trailers, x"),
    (b"te", b"TRAILERS"), (b"host", b"evil.test"), (b"host", b"{authority}"), (b"host", b"{authority}, evil"), (b"h_ost", b"x"), (b"host_", b"x"),
    (b"content-length", b"0"), (b"content-length", b"5"), (b"content-length", b"{n}"), (b"content-length", b"+{n}"), (b"content-length", b"{n}, {n}"),
    (b"content-length", b""), (b"content-length", b"-1"), (b"content-length", b"\xb2"), (b"content-length", b"0{n}"), (b"content_length", b"5"),
    (b"content-length", b"99999999999999999999999"), (b"content-length", b"1_0"), (b"content-length", b"{n}\n"),
    (b"proxy-authorization", b"Basic AAAA"), (b"x-ghost-token", b"mine"), (b"x_ghost_token", b"mine"), (b"x-http-method-override", b"DELETE"),
    (b"expect", b"100-continue, x"), (b"expect", b"x"), (b"trailer", b"x-t"), (b":x", b"1"), (b":protocol", b"websocket"), (b":status", b"200"),
    (b":path", b"/admin"), (b":method", b"DELETE"), (b":authority", b"evil.test"), (b":scheme", b"http"), (b"x-original-url", b"/admin"),
    (b"content-type", b"application/x-www-form-urlencoded"), (b"content-type", b"application/grpc"), (b"content-encoding", b"gzip"),
    (b"cookie", b"a\r\nx: y"), (b"http2-settings", b"AAMAAABk"), (b"x-a", b"v" * 3000),
]  # fmt: skip
SCHEMES = [b"http", b"HTTPS", b"", b"ftp", b"https://evil", b"h\x00", b"ws", b"https "]
TRAILERS_2: list[list[Line]] = [
    [(b"x-t", b"1")], [(b"content-length", b"5")], [(b":path", b"/admin")], [(b"host", b"evil")], [(b"X-T", b"1")],
    [(b"authorization", b"x")], [(b"x-t", b"a\r\nb")], [], [(b"transfer-encoding", b"chunked")],
]  # fmt: skip
