# Sourced after lib.sh: a machine with systemd in namespaces of its own, made of images. Sets $box (its folder; its files are in $box/files).
box=$state/box-$(basename "$0")
init=
box_stop() {
  [ -z "$init" ] || kill -KILL "$init" 2>/dev/null || true
  ! mountpoint -q "$box/files" || umount -l "$box/files"
}
trap box_stop EXIT

# box_files IMAGE...: the first one on top.
box_files() {
  local lower= image
  ! mountpoint -q "$box/files" || umount -l "$box/files"
  rm -rf "$box"
  mkdir -p "$box/upper" "$box/work" "$box/files"
  for image in "$@"; do lower=$lower${lower:+:}$(podman image mount "$image"); done
  mount -t overlay overlay -o "lowerdir=$lower,upperdir=$box/upper,workdir=$box/work" "$box/files"
  echo '127.0.0.1 localhost' >"$box/files/etc/hosts"
  # This machine may have a lower hard limit than the units ask for.
  local unit
  for unit in svc-asr svc-engine svc-compatible; do
    mkdir -p "$box/files/etc/systemd/system/$unit.service.d"
    printf '[Service]\nLimitNOFILE=%s\n' "$(ulimit -Hn)" >"$box/files/etc/systemd/system/$unit.service.d/limit.conf"
  done
}

box_boot() {
  touch "$box/console"
  # On cgroup 2, which also exists beside version 1 on a hybrid host.
  unshare --mount --pid --net --uts --ipc --cgroup --fork bash -c '
    set -e
    r=$1/files
    mount --make-rprivate /
    ip link set lo up
    mount -t proc proc $r/proc; mount -t sysfs sysfs $r/sys; mount -t tmpfs tmpfs $r/run; mount -t tmpfs tmpfs $r/tmp
    mount -t cgroup2 cgroup2 $r/sys/fs/cgroup
    mount -t tmpfs tmpfs $r/dev; mkdir $r/dev/pts $r/dev/shm; mount -t devpts devpts $r/dev/pts -o newinstance,ptmxmode=0666; mount -t tmpfs tmpfs $r/dev/shm
    for n in null:1:3 zero:1:5 full:1:7 random:1:8 urandom:1:9 tty:5:0; do IFS=: read -r a b c <<<$n; mknod -m 666 $r/dev/$a c $b $c; done
    ln -s pts/ptmx $r/dev/ptmx; ln -s /proc/self/fd $r/dev/fd; touch $r/dev/console; mount --bind $1/console $r/dev/console
    # systemd passes credentials to units through shared mounts.
    mount --make-rshared $r
    hostname svc-box
    cd $r
    exec env -i container=podman PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot $r /sbin/init' - "$box" >"$box/boot.log" 2>&1 &
  local unshare=$!
  eventually 20 pgrep -P "$unshare"
  init=$(pgrep -P "$unshare" | head -n 1)
}
# In the machine; and in its network with the files of this one.
inside() { nsenter --target "$init" --mount --pid --net --uts --ipc --cgroup --root --wd /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
out() { nsenter --target "$init" --net "$@"; }
