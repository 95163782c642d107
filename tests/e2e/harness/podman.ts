/**
 * Podman's `containers.conf`: what this kind of machine lets a container have, whatever it runs in
 * itself.
 */
export const PODMAN_SETTINGS = `[containers]
default_ulimits = ["nofile=1024:4096", "nproc=1024:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
`;
