/**
 * Patterns of secrets in code and configuration. The prefixes are documented by vendors or listed by secret scanners
 * of code hosts. Each pattern takes linear time: a failed match reads a bounded number of characters.
 */

/** Tokens with a vendor prefix and a body of letters, digits, `_` and `-`: `[prefix, minimum length of the body]`. */
const PREFIXED: readonly (readonly [string, number])[] = [
  // model providers
  ...(
    [
      'sk-',
      'gsk_',
      'xai-',
      'pplx-',
      'csk-',
      'fw_',
      'r8_',
      'hf_',
      'nvapi-',
      'jina_',
      'tvly-',
      'tgp_v1_',
      'pa-',
      'e2b_',
    ] as const
  ).map((prefix) => [prefix, 16] as const),
  ...(['lsv2_pt_', 'lsv2_sk_', 'phc_', 'phx_', 'fc-', 'ms-'] as const).map((prefix) => [prefix, 28] as const),
  // code hosts and package registries
  ...(['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_', 'github_pat_'] as const).map((prefix) => [prefix, 30] as const),
  ...(
    ['glpat-', 'gldt-', 'glptt-', 'glrt-', 'glcbt-', 'glft-', 'glsoat-', 'glimt-', 'glagent-', 'gloas-'] as const
  ).map((prefix) => [prefix, 16] as const),
  ...(
    ['GR1348941', 'npm_', 'pypi-', 'rubygems_', 'dckr_pat_', 'dckr_oat_', 'cio', 'oy2', 'CLOJARS_', 'AKCp'] as const
  ).map((prefix) => [prefix, 20] as const),
  ...(['ATATT3', 'ATCTT3', 'ATBB', 'BBDC-', 'sqp_', 'squ_', 'sqa_', 'PMAK-', 'CFPAT-', 'bkua_'] as const).map(
    (prefix) => [prefix, 20] as const,
  ),
  // clouds and hosting
  ...(
    ['dop_v1_', 'doo_v1_', 'dor_v1_', 'nfp_', 'HRKU-', 'fo1_', 'fm1_', 'fm2_', 'rnd_', 'sbp_', 'sb_secret_'] as const
  ).map((prefix) => [prefix, 20] as const),
  ...(
    ['pscale_tkn_', 'pscale_pw_', 'pscale_oauth_', 'pul-', 'tskey-', 'LTAI', 'AKID', 'AQVN', 'GOCSPX-', 'dapi'] as const
  ).map((prefix) => [prefix, 16] as const),
  ...(['NRAK-', 'NRJS-', 'NRII-', 'sntrys_', 'sntryu_', 'glc_', 'glsa_', 'ops_', 'vercel_', 'vcp_'] as const).map(
    (prefix) => [prefix, 16] as const,
  ),
  // messages, payments, work
  ...(['xoxa-', 'xoxb-', 'xoxe-', 'xoxo-', 'xoxp-', 'xoxr-', 'xoxs-', 'xoxc-', 'xoxd-', 'xapp-'] as const).map(
    (prefix) => [prefix, 10] as const,
  ),
  ...(
    ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_', 'pk_live_', 'pk_test_', 'whsec_', 'key-', 'EZAK', 'EZTK'] as const
  ).map((prefix) => [prefix, 16] as const),
  ...(
    ['shpat_', 'shpca_', 'shppa_', 'shpss_', 'sq0atp-', 'sq0csp-', 'EAAA', 'EAAC', 'FLWSECK-', 'FLWSECK_'] as const
  ).map((prefix) => [prefix, 20] as const),
  ...(
    ['lin_api_', 'lin_oauth_', 'ntn_', 'secret_', 'figd_', 'shippo_live_', 'shippo_test_', 'tfp_', 'rdme_'] as const
  ).map((prefix) => [prefix, 24] as const),
  ...(['p8e-', 'ico-', 'pnu_', 'duffel_live_', 'duffel_test_', 'live_', 'test_'] as const).map(
    (prefix) => [prefix, 30] as const,
  ),
];

/** One pattern with an alternative for each minimum length, which is faster than a pattern for each prefix. */
function prefixPattern(): RegExp {
  const byLength = new Map<number, string[]>();
  for (const [prefix, least] of PREFIXED) byLength.set(least, [...(byLength.get(least) ?? []), prefix]);
  const alternatives = [...byLength].map(([least, prefixes]) => `(?:${prefixes.join('|')})[A-Za-z0-9_-]{${least},}`);
  return new RegExp(`(?<![A-Za-z0-9])(?:${alternatives.join('|')})`, 'g');
}

/** The whole match, or its group `secret`, is secret. It may span several lines. */
export const BLOCKS: readonly RegExp[] = [
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g,
  /\$ANSIBLE_VAULT;[\d.]+;AES256[^\n]{0,40}(?:\s{1,4}[0-9a-f]{16,80})+/g,
  // recovery phrase of a wallet, in quotes
  /["'`](?<secret>(?:[a-z]{3,8} ){11}(?:(?:[a-z]{3,8} ){3}){0,4}[a-z]{3,8})["'`]/g,
];

/** Characters that no token contains. A match of `SHAPES` is always inside a run of `MIN_TOKEN` or more others. */
export const SEPARATORS = ' \t\r\n"\'`<>()[],;';
export const MIN_TOKEN = 14;

/** The whole match is secret. */
export const SHAPES: readonly RegExp[] = [
  /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}/g,
  // AWS, Google, Twilio, SendGrid, Mailchimp, Telegram, Discord
  /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{35}|\bya29\.[A-Za-z0-9_-]{20,}/g,
  /\b(?:SK|AC)[0-9a-f]{32}\b|\b[0-9a-f]{32}-us\d{1,2}\b/g,
  /\bSG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,}/g,
  /\b\d{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])/g,
  /\b[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}/g,
  // HashiCorp, Doppler, Dynatrace, Dropbox, Airtable, Mapbox, Azure, Harness
  /\b(?:hvs|hvb|hvr)\.[A-Za-z0-9_-]{20,}|\b[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{40,}/g,
  /\bdp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{30,}|\bdt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}/g,
  /\bsl\.[A-Za-z0-9_-]{40,}|\bpat[A-Za-z0-9]{14}\.[0-9a-f]{64}|\b[sp]k\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{15,}/g,
  /(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}/g,
  /\bpat\.[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}/g,
  /access_token\$(?:production|sandbox)\$[a-z0-9]{10,}\$[0-9a-f]{32}/g,
  /\bAGE-SECRET-KEY-1[0-9A-Z]{20,}|\bA3-[A-Z0-9]{6}-(?:[A-Z0-9]{5,11}-){2,5}[A-Z0-9]{5}/g,
  /\$(?:2[abxy]\$\d\d|apr1|1|5|6|y|argon2[a-z]{1,2})\$[A-Za-z0-9./$,=+-]{20,}|\{S?SHA\}[A-Za-z0-9+/=]{20,}/g,
  // 0x and other short prefixes of a long hexadecimal key
  /(?<![A-Za-z0-9])(?:0x|[A-Za-z]{2,10}[-_]?(?:v\d[-_])?)(?=[0-9a-f]{0,40}\d)[0-9a-f]{32,}(?![A-Za-z0-9])/g,
  prefixPattern(),
];

/** Names of secrets, as the end of a longer name (`DB_PASSWORD`, `stripe.apiKey`). */
const NAME =
  '(?:api[_-]?keys?|app[_-]?keys?|access[_-]?keys?|account[_-]?keys?|shared[_-]?access[_-]?key|secret[_-]?keys?|private[_-]?key|signing[_-]?key|encryption[_-]?key|master[_-]?key|license[_-]?key|client[_-]?key[_-]?data|key[_-]?base|secrets?|tokens?|passwd|password|passphrase|passcode|pass|pwd|pw|psk|auth|authorization|credentials?|webhook(?:[_-]?url)?|cookie|dsn|connection[_-]?string|salt|pepper|otp|bearer)';
/** After the name: the closing quote of a key, a type, a comma between arguments, then `:`, `=`, `:=` or `=>`. */
const TYPE =
  "(?:\\s{0,4}:\\s{0,4}[\\w&<>\\[\\]'?. |]{1,40}?(?=\\s{0,4}=)|\\s{1,4}(?:string|&str|text|varchar)(?=\\s{0,4}=)|\\[\\d{0,6}\\])?";
const ASSIGN = `["'\`]?\\]?${TYPE}\\s{0,8}(?:=>|:=|[:=]|,(?=\\s{0,8}["'\`]))\\s{0,8}`;

/** A line in which a pattern of `NAMED` can match. */
export const NAMING_LINE = new RegExp(
  `${NAME}|://|\\b(?:curl|wget|http|mysql|machine|IDENTIFIED)|seed|phrase|recovery|mnemonic`,
  'i',
);

/** The group `secret` of the match is secret, unless it is a placeholder. Each pattern matches within one line. */
export const NAMED: readonly RegExp[] = [
  // the password of a URL; webhooks, whose path is the secret
  /\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/:@'"`]{0,200}:(?<secret>[^\s/@'"`]{3,200})@/gi,
  /https:\/\/[0-9a-f]{32}(?::[0-9a-f]{32})?(?=@[a-z0-9.-]{1,80}\/\d)/g,
  /https:\/\/hooks\.slack(?:-gov)?\.com\/(?:services|workflows|triggers)\/(?<secret>[A-Za-z0-9/_-]{16,200})/g,
  /https:\/\/(?:\w{1,20}\.)?discord(?:app)?\.com\/api\/(?:v\d+\/)?webhooks\/(?<secret>[A-Za-z0-9/_-]{20,200})/g,
  /https:\/\/[\w-]{1,80}\.webhook\.office\.com\/webhookb2\/(?<secret>[A-Za-z0-9@/_-]{16,300})/g,
  /https:\/\/[\w.-]{1,100}\.logic\.azure\.com[^\s'"]{0,300}?sig=(?<secret>[A-Za-z0-9%_-]{16,200})/g,
  /[?&](?:sig|signature|key|code|api[_-]?key|access[_-]?token|token|password|secret|X-Amz-Signature)=(?<secret>[A-Za-z0-9%_.~+/=-]{8,300})/gi,
  // headers and command lines
  /\b(?:[Bb]earer|[Bb]asic|[Tt]oken)\s{1,4}(?<secret>[A-Za-z0-9+/_.~-]{16,}={0,2})/g,
  /\b(?:curl|wget|http)\b[^\n]{0,300}?\s(?:-u|--user|--proxy-user)[\s=]{0,2}["']?[^\s:"']{1,100}:(?<secret>[^\s"']{3,200})/g,
  /\bsshpass\s{1,4}-p\s{0,4}["']?(?<secret>[^\s"']{3,200})/g,
  /\bmysql(?:dump|admin)?\b[^\n]{0,200}?\s-p(?<secret>[^\s"'-][^\s"']{2,200})/g,
  /\bpass:(?<secret>[^\s"':]{4,200})/g,
  new RegExp(`(?<![A-Za-z0-9])--?[a-z-]{0,40}${NAME}[\\s=]["']?(?<secret>[^\\s"'$<{(-][^\\s"'\`]{5,300})`, 'gi'),
  /\b(?:IDENTIFIED\s{1,4}(?:WITH\s{1,4}\S{1,60}\s{1,4})?BY|WITH\s{1,4}(?:ENCRYPTED\s{1,4})?PASSWORD|PASSWORD)\s{1,4}'(?<secret>[^'\n]{3,200})'/gi,
  /\bmachine\s{1,4}\S{1,200}\s{1,8}login\s{1,4}\S{1,200}\s{1,8}password\s{1,4}(?<secret>\S{3,200})/g,
  // a value in quotes, a tag, or the rest of a line
  new RegExp(`${NAME}\\(\\s{0,4}["'\`](?<secret>[^"'\`\\n\\s]{6,300})["'\`]\\s{0,4}\\)`, 'gi'),
  new RegExp(`${NAME}\\s{0,4}\\{[^{}\\n]{1,40}\\}\\s{0,4}=\\s{0,4}"(?<secret>[^"\\n]{6,300})"`, 'gi'),
  new RegExp(`${NAME}\\\\["']\\s{0,4}:\\s{0,4}\\\\["'](?<secret>[^"'\\\\\\n]{6,300})\\\\["']`, 'gi'),
  new RegExp(
    `^[ \\t]{0,40}(?:ENV|setx|ARG)[ \\t]+[\\w.-]{0,60}${NAME}[ \\t]+["']?(?<secret>[^\\s"'$<{(=][^\\s"']{5,300})["']?[ \\t]*$`,
    'gim',
  ),
  new RegExp(`${NAME}${ASSIGN}[rbuf@$L]?(?:"""|"|'|\`)(?<secret>[^"'\`\\n]{6,1000}?)["'\`]`, 'gi'),
  new RegExp(`${NAME}\\s{0,4}=\\s{0,4}\\\\?["'](?<secret>[^"'\\\\\\n]{6,300})\\\\?["']`, 'gi'),
  new RegExp(`<[\\w.:-]{0,60}${NAME}>(?<secret>[^<\\s]{6,300})<`, 'gi'),
  new RegExp(`["']${NAME}["']\\s{0,4}value\\s{0,4}=\\s{0,4}["'](?<secret>[^"'\\n]{6,300})["']`, 'gi'),
  new RegExp(`${NAME}=(?<secret>[^\\s"'\`$<({\\[;,&|][^\\s"'\`;,&|<>(){}]{5,500})(?=$|[\\s;"'&])`, 'gim'),
  new RegExp(
    `^[ \\t]{0,200}(?:- |export |set |setx |ENV |ARG |[\\w.-]{1,40} )?["']?[\\w./-]{0,100}${NAME}["']?\\s{0,8}[:=][ \\t]{0,8}(?<secret>[^\\s"'\`$<({\\[][^\\s"'\`<>(){}]{4,500})[ \\t]{0,8}(?:#[^\\n]*)?$`,
    'gim',
  ),
  // Docker's and npm's registries
  /"auth"\s{0,4}:\s{0,4}"(?<secret>[A-Za-z0-9+/=]{8,2000})"/g,
  /\b(?:client-key-data|client-certificate-data|_authToken|_auth|_password)\s{0,4}[:=]\s{0,4}["']?(?<secret>[A-Za-z0-9+/=_-]{8,5000})/g,
  // recovery phrase of a wallet
  /(?:mnemonic|seed|phrase|recovery)[\w -]{0,20}["'`]?\s{0,4}[:=]\s{0,4}["'`]?(?<secret>(?:[a-z]{3,8} ){11,23}[a-z]{3,8})(?![a-z ])/gi,
];

/** Values of a secret's name that are not secrets: types, keywords, names of algorithms and variables. */
const PLAIN_WORDS =
  /^(?:true|false|null|none|nil|undefined|unknown|string|boolean|number|integer|object|array|never|void|any|optional|required|enabled|disabled|default|defaults|inherit|self|this|super|await|async|return|function|new|typeof|basic|bearer|oauth2?|digest|ntlm|md5|sha\d+|base64|utf-?8|int\d+|uint\d+|float\d+|hmac\w*|rs256|hs256|es256|always|login|signin|authorization|length|auto|yes|no|on|off)$/i;
const PLACEHOLDER =
  /^(?:process\.env|\{(?:env|file):|import\.meta|os\.(?:environ|getenv)|env[.(]|secrets?\.|vars\.|config\.|settings\.|your|my[-_]|<|%[\w(]|\.\.\.|\{\{|\$[\w{(]|changeme|change[-_]me|placeholder|redacted|dummy|todo|example(?!\w*\d)|x{4,}|\*{3,}|•{3,})/i;
/** Names with dots or underscores: translation keys, variables, files. */
const DOTTED_NAME = /^[a-z]+(?:[._][a-z]+)+$/i;
const KEBAB_NAME = /^[a-z]+(?:-[a-z]+)+$/;
const NAME_OF_VARIABLE = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;

/** True if a value with the name of a secret is something else: a variable, a type, a placeholder. */
export function isPlaceholder(value: string, match: string): boolean {
  if (PLAIN_WORDS.test(value) || PLACEHOLDER.test(value) || NAME_OF_VARIABLE.test(value)) return true;
  if (DOTTED_NAME.test(value) || value.includes('${')) return true;
  if (value.includes(' ') && !/pass|pwd|mnemonic|seed|phrase|recovery|psk/i.test(match)) return true;
  return KEBAB_NAME.test(value) && !/pass|pwd/i.test(match);
}

/** True if a value without quotes looks like code: a call, a member, a variable name. */
export function isExpression(value: string): boolean {
  if (/[;,]$|^[!&*|-]|=>|\?\?|\|\||&&/.test(value)) return true;
  if (/^[A-Za-z_$][\w$]*(?:(?:\.|->|::|\?\.)[A-Za-z_$][\w$]*)+$/.test(value)) return true;
  // An identifier without digits, in camel case or starting with an upper-case letter: a variable or a type.
  return (
    /^[A-Za-z_$]+$/.test(value) &&
    (/[a-z][A-Z]|^[A-Z][a-z]|_/.test(value) || /token|pass|secret|auth|key|cookie/i.test(value))
  );
}
