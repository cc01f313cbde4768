/** The configuration of a prosody for tests. */

/** What is in it. */
export interface ProsodySettings {
  dir: string;
  domain: string;
  roomsDomain: string;
  password: string;
  port: number;
  tlsPort: number;
  filesPort: number;
  without: readonly string[];
  scram: boolean;
  archives: boolean;
}

/** The text of the file. */
export function prosodyConfig(
  { dir, domain, roomsDomain, password, port, tlsPort, filesPort, without, scram, archives }:
    ProsodySettings,
): string {
  const modules = ["roster", "saslauth", "tls", "disco", "ping", "mam", "smacks", "carbons", "pep"]
    .filter((name) => !without.includes(name));
  const list = (names: readonly string[]) => `{ ${names.map((name) => `"${name}"`).join(", ")} }`;
  return `
run_as_root = true
daemonize = false
network_settings = { nagle = false }
pidfile = "${dir}/prosody.pid"
data_path = "${dir}/data"
plugin_paths = { "${dir}/modules" }
log = { { levels = { min = "info" }, to = "file", filename = "${dir}/prosody.log" } }
interfaces = { "127.0.0.1" }
c2s_ports = { ${port} }
c2s_direct_tls_ports = { ${tlsPort} }
s2s_ports = {}
http_ports = {}
https_ports = { ${filesPort} }
http_external_url = "https://localhost:${filesPort}/"
modules_enabled = ${list(modules)}
modules_disabled = { "s2s" }
authentication = "testing"
c2s_require_encryption = false
allow_unencrypted_plain_auth = true
certificates = "${dir}"
ssl = { certificate = "${dir}/cert.pem", key = "${dir}/key.pem" }
c2s_direct_tls_ssl = { certificate = "${dir}/cert.pem", key = "${dir}/key.pem" }
https_ssl = { certificate = "${dir}/cert.pem", key = "${dir}/key.pem" }
storage = "memory"
default_archive_policy = ${archives}
max_archive_query_results = 20
smacks_hibernation_time = 1
VirtualHost "${domain}"
  modules_enabled = { "refusing" }
  test_folder = "${dir}"
  test_password = "${password}"
  test_scram = ${scram}
Component "${roomsDomain}" "muc"
  modules_enabled = ${list(without.includes("muc_mam") ? [] : ["muc_mam"])}
  muc_log_by_default = true
  max_archive_query_results = 20
  restrict_room_creation = false
Component "upload.${domain}" "http_file_share"
  http_host = "localhost"
  http_file_share_size_limit = 1048576
`;
}

/** A module that answers the next message of a user with an error, where a file says so. */
export const REFUSING_MODULE = `
local st = require "util.stanza";
local folder = module:get_option_string("test_folder");
local function refuse(event)
  local user = event.origin.username;
  if not user or event.stanza.attr.type == "error" then return; end
  if not event.stanza:get_child("body") then return; end
  local path = folder .. "/refuse-" .. user;
  local file = io.open(path);
  if not file then return; end
  local kind, condition = file:read("*a"):match("(%S+) (%S+)");
  file:close();
  os.remove(path);
  event.origin.send(st.error_reply(event.stanza, kind, condition, "refused by a test"));
  return true;
end
module:hook("pre-message/bare", refuse, 1000);
module:hook("pre-message/full", refuse, 1000);
module:hook("pre-message/host", refuse, 1000);
`;

/** Everybody is a user with the same password, but for nobody, and whom a file takes it from. */
export const TESTING_AUTH_MODULE = `
local new_sasl = require "util.sasl".new;
local folder = module:get_option_string("test_folder");
local password = module:get_option_string("test_password");
local scram = module:get_option_boolean("test_scram", false);
local provider = {};
local function exists(user)
  return not user:match("^nobody");
end
function provider.user_exists(user) return exists(user); end
function provider.test_password(user, given) return exists(user) and given == password; end
function provider.get_sasl_handler()
  local function allowed(user)
    local revoked = io.open(folder .. "/revoked-" .. user);
    if revoked then revoked:close(); end
    return exists(user) and not revoked;
  end
  -- SCRAM takes a third of a second on both sides, which most tests do without.
  if scram then
    return new_sasl(module.host, {
      plain = function(_, user)
        if not allowed(user) then return "", nil; end
        return password, true;
      end;
    });
  end
  return new_sasl(module.host, {
    plain_test = function(_, user, given)
      return allowed(user) and given == password, true;
    end;
  });
end
module:provides("auth", provider);
`;
