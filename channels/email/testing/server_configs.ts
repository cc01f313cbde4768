/**
 * Configurations of the mail servers of tests.
 *
 * @module
 */

/** As whom a server runs, and at which ports of 127.0.0.1. */
interface Who {
  user: string;
  group: string;
}

/**
 * A mailbox for each user of `passwd`, in `mail/<user>/Maildir`. `imapCapability`: what the server says
 * that it can, instead of all.
 */
export function dovecotConfig(
  dir: string,
  { user, group }: Who,
  { imap, imaps, imapCapability = "" }: { imap: number; imaps: number; imapCapability?: string },
): string {
  return `
imap_capability = ${imapCapability}
base_dir = ${dir}/run
state_dir = ${dir}/run
log_path = ${dir}/log/dovecot
protocols = imap
listen = 127.0.0.1
default_internal_user = ${user}
default_internal_group = ${group}
default_login_user = ${user}
mail_location = maildir:~/Maildir
mail_uid = ${user}
mail_gid = ${group}
first_valid_uid = 0
first_valid_gid = 0
ssl = yes
ssl_cert = <${dir}/certs/cert.pem
ssl_key = <${dir}/certs/key.pem
disable_plaintext_auth = no
auth_mechanisms = plain login
auth_failure_delay = 0 secs
# Says when a mailbox has been opened, which a test may wait for.
log_debug = event=imap_command_finished
mailbox_list_index = no
passdb {
  driver = passwd-file
  args = ${dir}/passwd
}
userdb {
  driver = passwd-file
  args = ${dir}/passwd
}
service anvil {
  chroot =
}
service stats {
  chroot =
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${imap}
  }
  inet_listener imaps {
    port = ${imaps}
    ssl = yes
  }
}
`;
}

/**
 * Takes mails for the users of `test` from everybody, and any from who logs in. Vouches for who says
 * hello as verified.test. `later@test` is put off, other unknown users are refused. The file
 * `refuse-permanent` or `refuse-temporary` refuses one recipient, and is removed by that.
 */
export function eximConfig(
  dir: string,
  { user, group }: Who,
  ports: { smtp: number; smtps: number },
): string {
  return `
primary_hostname = mx.test
exim_user = ${user}
exim_group = ${group}
never_users =
spool_directory = ${dir}/spool
log_file_path = ${dir}/log/%slog
pid_file_path = ${dir}/run/exim.pid
daemon_smtp_ports = ${ports.smtp} : ${ports.smtps}
tls_on_connect_ports = ${ports.smtps}
local_interfaces = 127.0.0.1
tls_certificate = ${dir}/certs/cert.pem
tls_privatekey = ${dir}/certs/key.pem
tls_advertise_hosts = *
domainlist local = test
acl_smtp_rcpt = rcpt
acl_smtp_data = data
host_lookup =
rfc1413_query_timeout = 0s
message_size_limit = 60M
keep_environment =
deliver_drop_privilege = true
begin acl
rcpt:
  deny  condition = \${if exists{${dir}/refuse-permanent}}
        set acl_c0 = \${run{/bin/rm -f ${dir}/refuse-permanent}}
        message = not this one
  defer condition = \${if exists{${dir}/refuse-temporary}}
        set acl_c0 = \${run{/bin/rm -f ${dir}/refuse-temporary}}
        message = not now
  defer local_parts = later
        message = come again later
  deny  domains = +local
        !local_parts = lsearch;${dir}/users
        message = no such user
  accept domains = +local
  accept authenticated = *
  deny message = no relaying
data:
  warn condition = \${if eq{$sender_helo_name}{verified.test}}
       add_header = :at_start:Authentication-Results: mx.test; dmarc=pass header.from=\${domain:\${address:$h_From:}}
  accept
begin routers
users:
  driver = accept
  domains = +local
  local_parts = lsearch;${dir}/users
  transport = maildir
begin transports
maildir:
  driver = appendfile
  directory = ${dir}/mail/$local_part_data/Maildir
  maildir_format
  create_directory
  return_path_add
  mode = 0600
begin retry
* * F,1h,1s
begin authenticators
plain:
  driver = plaintext
  public_name = PLAIN
  server_set_id = $auth2
  server_prompts = :
  server_condition = \${if eq{$auth3}{secret password}}
  server_advertise_condition = true
`;
}
