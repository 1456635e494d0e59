FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# Without it, make takes the tag or the commit from .git.
ARG VERSION
RUN make build

# Nothing but the binary, and the certificates that rediss:// needs.
FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /src/bin/rankcast /rankcast
USER 65532:65532
# Other machines reach this address, so the server also wants RANKCAST_ACCESS (or RANKCAST_ACCESS_TEXT), or
# RANKCAST_INSECURE=true where everybody who reaches the container may do anything.
ENV RANKCAST_ADDR=:8080
EXPOSE 8080
ENTRYPOINT ["/rankcast"]
CMD ["serve"]
