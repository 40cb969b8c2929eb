import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { StatefulSet } from 'kubernetes-models/apps/v1';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Service } from 'kubernetes-models/v1';
import { ProjectFolder } from '../config/project-folder.ts';
import { HELM, programPath } from '../host/programs.ts';
import { DEPLOY, objectsOf, readDeployed } from './kubernetes-objects.ts';

const CHART = join(DEPLOY, 'helm', 'svc-gateway');
const EXAMPLE = ['-f', join(DEPLOY, 'helm', 'example-values.yaml')];
const KINDS = { ConfigMap, Service, PodDisruptionBudget, StatefulSet };

function helm(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(programPath(HELM), args, { encoding: 'utf8' });
  return { status, stdout, stderr };
}

function render(release: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = helm('template', release, CHART, ...args);
  assert.equal(status, 0, stderr);
  return stdout;
}

describe('deploy/helm', () => {
  it('helm lint finds nothing', () => {
    const { status, stdout } = helm('lint', '--strict', CHART, ...EXAMPLE);
    assert.equal(status, 0, stdout);
  });

  it('the example gives the objects of deploy/kubernetes.yaml', () => {
    const rendered = objectsOf(render('svc-gateway', ...EXAMPLE), KINDS);
    const written = objectsOf(readDeployed('kubernetes.yaml'), KINDS);
    for (const [kind, object] of written) {
      if (kind === 'ConfigMap') {
        const configs = [rendered, written].map((objects) => JSON.parse(objects.get(kind).data['svc.jsonc']));
        assert.deepEqual(configs[0], configs[1]);
      } else assert.deepEqual(rendered.get(kind), object);
    }
  });

  it('an ingress and a monitor, as in deploy/kubernetes-monitoring.yaml, if the values say so', () => {
    const text = render(
      'svc-gateway',
      ...EXAMPLE,
      '--set=serviceMonitor.enabled=true,ingress.enabled=true,ingress.host=models.example.com,ingress.tlsSecretName=tls',
    );
    const objects = objectsOf(text, { ...KINDS, ServiceMonitor, Ingress });
    const written = objectsOf(readDeployed('kubernetes-monitoring.yaml'), { ServiceMonitor });
    assert.deepEqual(objects.get('ServiceMonitor'), written.get('ServiceMonitor'));
    const { rules, tls } = objects.get('Ingress').spec;
    assert.deepEqual(
      [rules[0].host, tls],
      ['models.example.com', [{ hosts: ['models.example.com'], secretName: 'tls' }]],
    );
    assert.deepEqual(rules[0].http.paths[0].backend.service, { name: 'svc-gateway', port: { name: 'http' } });
  });

  it('two releases share no name and select no pod of each other', () => {
    const objects = objectsOf(render('models', ...EXAMPLE), KINDS);
    const label = { 'app.kubernetes.io/name': 'models-svc-gateway' };
    for (const { metadata } of objects.values()) assert.equal(metadata.name, 'models-svc-gateway');
    assert.deepEqual(objects.get('Service').spec.selector, label);
    const { selector, template } = objects.get('StatefulSet').spec;
    assert.deepEqual([selector.matchLabels, template.metadata.labels], [label, label]);
    const [config, secrets] = template.spec.volumes;
    assert.deepEqual([config.configMap.name, secrets.secret.secretName], ['models-svc-gateway', 'models-svc-gateway']);
  });

  it('other values arrive where they belong', () => {
    const values = {
      image: { repository: 'registry.example.com/own', tag: '1.2.3', pullPolicy: 'Always' },
      imagePullSecrets: [{ name: 'registry' }],
      replicas: 2,
      secretName: 'vault',
      env: [{ name: 'HTTPS_PROXY', value: 'http://proxy:3128' }],
      drainSeconds: 300,
      heapMegabytes: 1500,
      resources: { limits: { memory: '2Gi' } },
      storage: { size: '5Gi', className: 'fast' },
      service: { type: 'LoadBalancer', port: 8080, annotations: { internal: 'true' } },
      podAnnotations: { team: 'models' },
      nodeSelector: { pool: 'gateways' },
      tolerations: [{ key: 'gateways', operator: 'Exists' }],
      affinity: { nodeAffinity: {} },
      config: { gateway: { budgets: [{ usd: 1_000_000, period: 'month' }] } },
    };
    const json = Object.entries(values).map(([name, value]) => `--set-json=${name}=${JSON.stringify(value)}`);
    const objects = objectsOf(render('svc-gateway', ...json), KINDS);
    assert.deepEqual(JSON.parse(objects.get('ConfigMap').data['svc.jsonc']), values.config);
    const { type, ports } = objects.get('Service').spec;
    assert.deepEqual([type, ports[0].port], ['LoadBalancer', 8080]);
    assert.deepEqual(objects.get('Service').metadata.annotations, values.service.annotations);
    const { replicas, template, volumeClaimTemplates } = objects.get('StatefulSet').spec;
    const [gateway] = template.spec.containers;
    assert.equal(replicas, 2);
    assert.deepEqual(template.metadata.annotations, values.podAnnotations);
    const { imagePullSecrets, nodeSelector, tolerations, affinity, terminationGracePeriodSeconds } = template.spec;
    const { imagePullSecrets: pull, nodeSelector: nodes, tolerations: tolerated, affinity: near } = values;
    assert.deepEqual([imagePullSecrets, nodeSelector, tolerations, affinity], [pull, nodes, tolerated, near]);
    assert.ok(terminationGracePeriodSeconds > 305);
    assert.deepEqual([gateway.image, gateway.imagePullPolicy], ['registry.example.com/own:1.2.3', 'Always']);
    assert.deepEqual(gateway.args.slice(-2), ['--drain', '300']);
    assert.deepEqual(gateway.env, [{ name: 'NODE_OPTIONS', value: '--max-old-space-size=1500' }, ...values.env]);
    assert.deepEqual(gateway.resources, { ...values.resources, requests: { cpu: '250m', memory: '256Mi' } });
    assert.equal(template.spec.volumes[1].secret.secretName, 'vault');
    const { storageClassName, resources } = volumeClaimTemplates[0].spec;
    assert.deepEqual([storageClassName, resources.requests.storage], ['fast', '5Gi']);
  });

  it('takes svc.jsonc as a file, with its comments', () => {
    using folder = new ProjectFolder();
    const text = '  // The models of the team.\n{\n  "provider": { "openai": {}, },\n}\n';
    folder.write('svc.jsonc', text);
    const yaml = render('svc-gateway', ...EXAMPLE, `--set-file=config=${join(folder.root, 'svc.jsonc')}`);
    assert.equal(objectsOf(yaml, KINDS).get('ConfigMap').data['svc.jsonc'], text);
  });

  it('says what is missing or misspelt', () => {
    const missing = helm('template', 'svc-gateway', CHART, '--set=image.repository=gateway');
    assert.match(missing.stderr, /Set config: the content of svc\.jsonc/);
    assert.match(helm('template', 'svc-gateway', CHART, '--set-json=config={"a":1}').stderr, /Set image\.repository/);
    const misspelt = helm('template', 'svc-gateway', CHART, ...EXAMPLE, '--set=replica=5');
    assert.match(misspelt.stderr, /'replica' not allowed/);
    // Kubernetes takes only texts there.
    const number = helm('template', 'svc-gateway', CHART, ...EXAMPLE, '--set=ingress.annotations.timeout=3600');
    assert.match(number.stderr, /annotations\/timeout': got number, want string/);
  });
});
