import assert from 'node:assert/strict';
import { isSecretFile } from '../../src/base/secret-files.ts';

const SECRET = `
.env .env.local .env.production prod.env config/prod.env .envrc .flaskenv .dev.vars apps/web/.env.development.local
.git-credentials .git/config .git/hooks/x sub/.git/config .gitcookies .hgrc .pypirc pip.conf .npmrc .yarnrc.yml
.pgpass .my.cnf .mylogin.cnf .netrc _netrc .authinfo.gpg .htpasswd terraform.tfstate terraform.tfstate.backup
prod.tfvars prod.auto.tfvars.json .terraformrc terraform.rc .vault-token .vault_pass.txt .aws/config home/.aws/config
.aws/credentials .azure/accessTokens.json .kube/config sub/.kube/config kubeconfig prod.kubeconfig .docker/config.json
home/me/.docker/config.json .dockercfg .s3cfg .boto .config/gcloud/credentials.db application_default_credentials.json
service-account.json my-service-account-prod.json my_service_account.json my-project-0123456789ab.json
client_secret_1234.apps.json app-firebase-adminsdk-x1.json credentials credentials.json credentials.yml
config/credentials.yml.enc google-credentials.json secrets.yaml secrets.yml secrets.toml secret.json .streamlit/secrets.toml
app/appsecrets.json secrets/db_password values.secret.yaml vault.kdbx server.pem server.key auth.p8 cert.p12 cert.pfx
app.jks release.keystore key.properties svc.keytab id_rsa id_rsa.pub id_ed25519 id_work .ssh/config .ssh/known_hosts
.gnupg/pubring.kbx svc.json svc.jsonc sub/svc.jsonc wp-config.php .bash_history .psql_history kaggle.json auth.json
.m2/settings.xml .gradle/gradle.properties .cargo/credentials.toml nuget.config master.key .config/gh/hosts.yml
.ENV Prod.Env .Git/Config SERVER.PEM .AWS/Config
`
  .trim()
  .split(/\s+/);
const HIDDEN = ['.env.', '.env ', '.env::$DATA', '.e\u200cnv', '.git./config', 'C:\\work\\.aws\\config', './a/./.env'];
const PLAIN = `
.env.example .env.sample .env.template .env.dist src/env.ts environment.ts src/credentials.ts credentials_controller.rb
src/secrets/index.ts src/secrets/readme.md secrets.py secret.go id_generator.ts keys.ts package.json config.json
.gitignore .gitattributes src/key.tsx monkey.txt docs/kube/config.md terraform/main.tf settings.json history.ts
data-2024-01-01.json tokens.css .github/workflows/ci.yml src/credentials/index.ts auth.ts
`
  .trim()
  .split(/\s+/);

describe('isSecretFile', () => {
  for (const path of [...SECRET, ...HIDDEN]) {
    it(`isSecretFile: true for ${JSON.stringify(path)}`, () => {
      assert.equal(isSecretFile(path), true);
      assert.equal(isSecretFile(`/home/me/work/${path}`), true);
    });
  }
  for (const path of PLAIN) {
    it(`isSecretFile: false for ${JSON.stringify(path)}`, () =>
      assert.equal(isSecretFile(`/home/me/work/${path}`), false));
  }
});
