import { IgnorePatterns } from './ignore-patterns.ts';
import { splitWords } from './split-words.ts';

/** Extensions of source files. Names like `secrets` are common for code that handles secrets. */
const SOURCE_EXTENSIONS = splitWords(`
  c cc cjs clj cpp cs css cts dart ex exs fs go groovy h hpp hs html java jl js jsx kt kts lua m md mjs ml mts php
  pl proto py pyi r rb rs rst scala scss sol svelte swift tf ts tsx vue zig
`);

/**
 * Files that contain secrets, as `.gitignore` patterns. This is the only list: completions, the chat's tools and
 * attachments, and `svc fim` use it.
 */
const PATTERNS = [
  // The order matters: names that source files also have, then the exceptions for source files, then names of secret
  // files only.
  ...splitWords(`
    credentials* credential.* *credentials.json *_credentials .credentials* secret.* secrets.* secrets *.secret
    *.secrets .secret* secrets-* secrets_* *-secrets.* *_secrets.* secrets/* *secrets.y*ml *secrets.json *secrets.toml
    *.secret.* *.secrets.* id_* !id_*.* *kubeconfig* .env*
  `),
  ...SOURCE_EXTENSIONS.map((extension) => `!*.${extension}`),
  '!*/',
  // Environment files.
  ...splitWords(`
    .env .env.* .env-* .env_* *.env *.env.local .envrc .envrc.* .flaskenv .dev.vars* !.env.example !.env.*.example
    !.env.sample !.env.template !.env.dist !.env.schema !example.env !sample.env
  `),
  // Keys, certificates and key stores.
  ...splitWords(`
    *.pem *.key *.p8 *.p12 *.pfx *.pkcs12 *.pk8 *.ppk *.crt *.cer *.der *.jks *.jceks *.bks *.keystore *.truststore
    *.keytab krb5cc_* *.kdb *.kdbx *.ovpn *.keychain *.keychain-db *.agilekeychain/ *.opvault/ *.1pux wallet.dat
    secring.* *.snk id_rsa* id_dsa* id_ecdsa* id_ed25519* ssh_host_*_key .ssh/ .gnupg/ .password-store/ .secrets/
    key.properties keystore.properties signing.properties master.key wg[0-9].conf sops/age/
  `),
  // Clouds and infrastructure.
  ...splitWords(`
    .aws/ .azure/ .kube/ .oci/ .bluemix/ .chef/ .snowsql/ .databrickscfg .boto .s3cfg .config/gcloud/ Roaming/gcloud/
    access_tokens.db legacy_credentials/ application_default_credentials.json client_secret*.json gha-creds-*.json
    rclone.conf *service-account*.json *service_account*.json *serviceaccount*.json *firebase-adminsdk*.json
  `),
  // Google's name for the key file of a service account: the project and 12 digits of the key.
  `*-${'[0-9a-f]'.repeat(12)}.json`,
  ...splitWords(`
    *.publishsettings *.pubxml.user local.settings.json .docker/config.json .dockercfg .dockerconfigjson *.kubeconfig
    kubeconfig *.tfvars *.tfvars.json *.tfstate *.tfstate.* *.tfplan .terraformrc terraform.rc .terraform.d/
    .vault-token .vault_pass* .vault-pass* vault_pass* vault-pass*
  `),
  // Package managers, version control and their hosts.
  ...splitWords(`
    .npmrc .yarnrc .yarnrc.yml .pypirc pip.conf pip.ini auth.json nuget.config .gem/ .bundle/config .m2/settings*.xml
    .gradle/gradle.properties .cargo/credentials* .git/ .hg/ .svn/ .git-credentials .gitcookies .hgrc gh/hosts.yml
    glab-cli/config.yml .config/hub
  `),
  // Databases, servers and the rest.
  ...splitWords(`
    .pgpass pgpass.conf .my.cnf .mylogin.cnf .netrc _netrc .netrc.* .authinfo* .htpasswd htpasswd wp-config.php
    .ftpconfig .ftppass sftp.json sftp-config.json recentservers.xml sitemanager.xml .*_history kaggle.json
    huggingface/token svc.json svc.jsonc
  `),
];

/** Match at any depth: a pattern with a slash in its middle would otherwise match at the root only. */
const SECRET_FILES = new IgnorePatterns(PATTERNS.map((one) => (/\/./.test(one) ? `**/${one}` : one)).join('\n'));

/** Whether the file usually contains secrets. @param path absolute or relative, with `/` or `\`. */
export function isSecretFile(path: string): boolean {
  const plain = plainSegments(path).join('/');
  return plain !== '' && SECRET_FILES.ignores(plain);
}

/**
 * The names in a path as file systems compare them. Windows drops dots and spaces at the end of a name and reads `a:b`
 * as a stream of `a`. macOS ignores invisible characters.
 */
export function plainSegments(path: string): readonly string[] {
  return path
    .split(/[\\/]+/)
    .map((name) => name.replace(/\p{Cf}/gu, '').normalize('NFC'))
    .map((name) => (/^[a-z]:$/i.test(name) || name === '..' ? name : withoutEnd(name)))
    .filter((name) => name !== '' && name !== '.');
}

function withoutEnd(name: string): string {
  const stream = name.indexOf(':', 1);
  const whole = stream === -1 ? name : name.slice(0, stream);
  let end = whole.length;
  while (end > 0 && (whole[end - 1] === '.' || whole[end - 1] === ' ')) end -= 1;
  return whole.slice(0, end);
}
