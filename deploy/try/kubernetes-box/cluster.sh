# A Kubernetes 1.20.2 cluster of one machine, inside namespaces that deploy/try/kubernetes has made. Sourced by it.
# $box: a folder for this run. $bin: the programs of deploy/try/control-plane.
address=10.77.0.1
services=10.96.0.0/16
logs=$box/logs
mkdir -p "$logs" "$box/pki" "$box/cni"
kubectl() { "$bin/kubectl" --kubeconfig "$box/pki/admin.conf" "$@"; }
ctr() { command ctr --address "$box/containerd.sock" --namespace k8s.io "$@"; }

# Starts a program whose output goes to a file of its name: background NAME COMMAND...
background() {
  local name=$1
  shift
  "$@" >"$logs/$name.log" 2>&1 &
}

# An authority and certificates: issue NAME SUBJECT ALTERNATIVE_NAMES
authority() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=trial -keyout "$box/pki/ca.key" -out "$box/pki/ca.crt" 2>/dev/null
}
issue() {
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "$2" -keyout "$box/pki/$1.key" -out "$box/pki/$1.csr" 2>/dev/null
  openssl x509 -req -in "$box/pki/$1.csr" -CA "$box/pki/ca.crt" -CAkey "$box/pki/ca.key" -CAcreateserial -days 2 \
    -extfile <(echo "subjectAltName=$3") -out "$box/pki/$1.crt" 2>/dev/null
}
kubeconfig() {
  cat >"$box/pki/$1.conf" <<CONF
apiVersion: v1
kind: Config
clusters: [{ name: trial, cluster: { server: 'https://$address:6443', certificate-authority: $box/pki/ca.crt } }]
users: [{ name: $1, user: { client-certificate: $box/pki/$1.crt, client-key: $box/pki/$1.key } }]
contexts: [{ name: trial, context: { cluster: trial, user: $1 } }]
current-context: trial
CONF
}

network() {
  ip link set lo up
  # The machine's only way out ends nowhere: nothing here reaches another network.
  ip link add machine0 type veth peer name nowhere0
  ip addr add "$address/24" dev machine0
  ip link set machine0 up
  ip link set nowhere0 up
  ip route add default dev machine0
  echo 1 >/proc/sys/net/ipv4/ip_forward
  cat >"$box/cni/10-trial.conflist" <<'CNI'
{
  "cniVersion": "0.4.0",
  "name": "trial",
  "plugins": [
    {
      "type": "ptp",
      "ipam": { "type": "host-local", "dataDir": "/run/cni", "ranges": [[{ "subnet": "10.78.0.0/16" }]], "routes": [{ "dst": "0.0.0.0/0" }] }
    },
    { "type": "portmap", "capabilities": { "portMappings": true } }
  ]
}
CNI
}

control_plane() {
  authority
  openssl genrsa -out "$box/pki/service-accounts.key" 2048 2>/dev/null
  local names="IP:127.0.0.1,IP:$address,IP:10.96.0.1,DNS:localhost,DNS:kubernetes.default.svc"
  issue api-server /CN=api-server "$names"
  issue admin /O=system:masters/CN=admin DNS:admin
  issue front-proxy /CN=front-proxy DNS:front-proxy
  issue controllers /CN=system:kube-controller-manager DNS:controllers
  issue scheduler /CN=system:kube-scheduler DNS:scheduler
  issue kubelet /O=system:nodes/CN=system:node:machine-1 "DNS:machine-1,IP:$address"
  issue proxy /CN=system:kube-proxy DNS:proxy
  for name in admin controllers scheduler kubelet proxy; do kubeconfig "$name"; done
  background etcd etcd --data-dir "$box/etcd" --unsafe-no-fsync --listen-client-urls http://127.0.0.1:2379 \
    --advertise-client-urls http://127.0.0.1:2379 --listen-peer-urls http://127.0.0.1:2380
  # Pod Security admission is newer than 1.20. PodSecurityPolicy does its work, see kubernetes-1.20 beside this file.
  background api-server "$bin/kube-apiserver" --etcd-servers=http://127.0.0.1:2379 --advertise-address="$address" \
    --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction,PodSecurityPolicy --service-cluster-ip-range="$services" \
    --client-ca-file="$box/pki/ca.crt" --tls-cert-file="$box/pki/api-server.crt" --tls-private-key-file="$box/pki/api-server.key" \
    --service-account-issuer=https://kubernetes.default.svc --service-account-key-file="$box/pki/service-accounts.key" \
    --service-account-signing-key-file="$box/pki/service-accounts.key" \
    --kubelet-preferred-address-types=InternalIP --kubelet-certificate-authority="$box/pki/ca.crt" --kubelet-client-certificate="$box/pki/admin.crt" --kubelet-client-key="$box/pki/admin.key" \
    --requestheader-client-ca-file="$box/pki/ca.crt" --requestheader-allowed-names=front-proxy --requestheader-username-headers=X-Remote-User \
    --requestheader-group-headers=X-Remote-Group --requestheader-extra-headers-prefix=X-Remote-Extra- \
    --proxy-client-cert-file="$box/pki/front-proxy.crt" --proxy-client-key-file="$box/pki/front-proxy.key" --enable-aggregator-routing=true
  eventually 120 kubectl get --raw /readyz
  background controllers "$bin/kube-controller-manager" --kubeconfig="$box/pki/controllers.conf" --leader-elect=false \
    --use-service-account-credentials --service-account-private-key-file="$box/pki/service-accounts.key" --root-ca-file="$box/pki/ca.crt" \
    --horizontal-pod-autoscaler-sync-period=5s
  background scheduler "$bin/kube-scheduler" --kubeconfig="$box/pki/scheduler.conf" --leader-elect=false
}

containers() {
  cat >"$box/containerd.toml" <<TOML
version = 2
root = "$box/containerd"
state = "/run/containerd"
[grpc]
  address = "$box/containerd.sock"
[plugins."io.containerd.internal.v1.opt"]
  path = "$box/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:3.2"
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$box/cni"
TOML
  background containerd containerd --config "$box/containerd.toml"
  eventually 60 ctr version
}

machine() {
  echo "nameserver $address" >"$box/resolv.conf"
  cat >"$box/kubelet.yaml" <<YAML
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
cgroupDriver: cgroupfs
failSwapOn: false
evictionHard: { memory.available: 100Mi }
clusterDomain: cluster.local
clusterDNS: [$address]
resolvConf: $box/resolv.conf
tlsCertFile: $box/pki/kubelet.crt
tlsPrivateKeyFile: $box/pki/kubelet.key
authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: $box/pki/ca.crt } }
authorization: { mode: Webhook }
volumePluginDir: $box/volume-plugins
oomScoreAdj: 0
YAML
  background kubelet "$bin/kubelet" --config="$box/kubelet.yaml" --kubeconfig="$box/pki/kubelet.conf" --cert-dir="$box/pki" \
    --hostname-override=machine-1 --node-ip="$address" --container-runtime=remote --container-runtime-endpoint="unix://$box/containerd.sock"
  background proxy "$bin/kube-proxy" --kubeconfig="$box/pki/proxy.conf" --hostname-override=machine-1 --proxy-mode=iptables \
    --cluster-cidr=10.78.0.0/16 --oom-score-adj=0 --conntrack-max-per-core=0 --conntrack-tcp-timeout-established=0 --conntrack-tcp-timeout-close-wait=0
  eventually 120 kubectl wait --for=condition=Ready node/machine-1 --timeout=5s
}

# Stands in for CoreDNS: dnsmasq, with the addresses of the headless service as Kubernetes publishes them.
names() {
  echo "$address postgres.svc-asr.internal" >"$box/names"
  background dns dnsmasq --keep-in-foreground --conf-file=/dev/null --no-hosts --no-resolv --addn-hosts="$box/names" --listen-address="$address" --bind-interfaces \
    --local=/cluster.local/ --local=/internal/ --user=root --pid-file="$box/dns.pid"
  (
    while sleep 0.5; do
      {
        echo "$address postgres.svc-asr.internal"
        kubectl -n svc-asr get endpoints engine -o jsonpath='{range .subsets[*].addresses[*]}{.ip} engine.svc-asr.svc.cluster.local{"\n"}{end}' 2>/dev/null
      } >"$box/names.new" || continue
      cmp -s "$box/names" "$box/names.new" && continue
      cp "$box/names.new" "$box/names"
      kill -HUP "$(cat "$box/dns.pid")"
    done
  ) >"$logs/names.log" 2>&1 &
}
