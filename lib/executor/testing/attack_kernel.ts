/**
 * What a program in a sandbox tries against the kernel, as text for perl: every Debian has that, and it
 * can make any system call.
 *
 * @module
 */

/** Prints what it got, a line each: `write <path>` for files that opened, `call <name>` for calls made. */
export const ATTACK_KERNEL = String.raw`
use strict; use Fcntl; $| = 1;
my $arm = (POSIX_machine() eq "aarch64") ? 1 : 0;
sub POSIX_machine { my $m = ""; open(my $p, "-|", "uname", "-m"); $m = <$p>; chomp $m; $m }
sub look {
  my ($dir) = @_;
  opendir(my $names, $dir) or return;
  for my $name (sort readdir $names) {
    next if $name eq "." or $name eq "..";
    my $path = "$dir/$name";
    next if -l $path;
    if (-d _) { look($path) unless $dir eq "/proc" and $name =~ /^\d+$/ and $name != $$; next }
    sysopen(my $file, $path, O_WRONLY | O_NONBLOCK | O_NOCTTY) and print "write $path\n";
  }
}
look($_) for "/proc", "/sys", "/dev";

sub try {
  my ($name, $x86, $generic, @args) = @_;
  my $number = $arm ? $generic : $x86;
  return if $number < 0;
  print "call $name\n" if syscall($number, @args) >= 0;
}
my $zero = "\0" x 256;
my $file = "made-by-attack"; open(my $made, ">", $file); print $made "x"; close $made;
try("keyctl_session", 250, 219, 1, 0);
try("keyctl_get", 250, 219, 0, -3, 0);
{ my ($t, $d, $p) = ("user", "attack", "x"); try("add_key", 248, 217, $t, $d, $p, 1, -3); }
{ my $p = $zero; try("io_uring_setup", 425, 425, 4, $p); }
try("userfaultfd", 323, 282, 1);
{ my $p = pack("L4", 2, 4, 8, 1) . $zero; try("bpf_map", 321, 280, 0, $p, 72); }
{ my $p = pack("L2Q", 1, 112, 0) . $zero; try("perf_event_open", 298, 241, $p, 0, -1, -1, 0); }
try("vsock", 41, 198, 40, 1, 0);
try("alg", 41, 198, 38, 5, 0);
try("packet", 41, 198, 17, 3, 0);
try("netlink_netfilter", 41, 198, 16, 3, 12);
try("netlink_crypto", 41, 198, 16, 3, 21);
try("unshare_user", 272, 97, 0x10000000);
try("unshare_mount", 272, 97, 0x20000);
try("clone_user", 56, 220, 0x10000000 | 17, 0, 0, 0, 0) if 0;
{ my $p = "/tmp"; try("open_tree", 428, 428, -100, $p, 1); }
{ my $p = "tmpfs"; try("fsopen", 430, 430, $p, 0); }
try("fanotify_init", 300, 262, 0x200, 0);
try("kcmp", 312, 272, $$, $$, 0, 0, 0);
try("chmod_setuid", 90, -1, $file, 04755);
try("fchmodat_setuid", 268, 53, -100, $file, 04755);
try("fchmodat2_setuid", 452, 452, -100, $file, 04755, 0);
{ open(my $made, "<", $file); try("fchmod_setuid", 91, 52, fileno($made), 04755); }
try("open_setuid", 257, 56, -100, "made-setuid", O_CREAT | O_WRONLY, 04755);
try("mknod_setuid", 259, 33, -100, "node-setuid", 0104755, 0);
{ my $how = pack("Q3", O_CREAT | O_WRONLY, 04755, 0); try("openat2_setuid", 437, 437, -100, "made-openat2", $how, 24); }
for my $name ($file, "made-setuid", "node-setuid", "made-openat2") { print "setuid $name\n" if -u $name; unlink $name }
{ my $pid = fork(); if (!$pid) { try("ptrace", 101, 117, 0, 0, 0, 0); exit } waitpid($pid, 0); }
{ my $p = pack("Q2", 0, 0); my $v = pack("Q2", unpack("Q", pack("P", $p)), 8); try("process_vm_readv", 310, 270, $$, $v, 1, $v, 1, 0); }
if (!$arm) { try("x32_getpid", 0x40000000 + 39, -1); }
print "tried all\n";
`;

/** Devices that anybody may write to, and terminals of its own. */
export const HARMLESS_DEVICES = /^\/dev\/(full|null|random|tty|urandom|zero|ptmx|pts\/(ptmx|\d+))$/;
