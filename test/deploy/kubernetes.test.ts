import assert from 'node:assert/strict';
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import { StatefulSet } from 'kubernetes-models/apps/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { ConfigMap, Service } from 'kubernetes-models/v1';
import { svc } from '../cli/run-svc.ts';
import { ProjectFolder } from '../config/project-folder.ts';
import { objectsOf, readDeployed } from './kubernetes-objects.ts';

const KINDS = { ConfigMap, Service, PodDisruptionBudget, StatefulSet };

describe('deploy/kubernetes.yaml', () => {
  const objects = objectsOf(readDeployed('kubernetes.yaml'), KINDS);
  const { spec } = objects.get('StatefulSet').spec.template;
  const [gateway] = spec.containers;

  it('kubernetes: selectors, ports and volumes name what exists', () => {
    const labels = objects.get('StatefulSet').spec.template.metadata.labels;
    const selectors = [
      objects.get('Service').spec.selector,
      objects.get('PodDisruptionBudget').spec.selector.matchLabels,
      objects.get('StatefulSet').spec.selector.matchLabels,
    ];
    for (const selector of selectors) assert.deepEqual(selector, labels);
    assert.equal(objects.get('Service').spec.ports[0].targetPort, gateway.ports[0].name);
    const claims = objects.get('StatefulSet').spec.volumeClaimTemplates;
    const volumes = [...spec.volumes, ...claims.map(({ metadata }: { metadata: { name: string } }) => metadata)];
    const mounted = gateway.volumeMounts.map(({ name }: { name: string }) => name);
    assert.deepEqual(volumes.map(({ name }: { name: string }) => name).sort(), mounted.sort());
    assert.ok(!gateway.volumeMounts.some((mount: object) => 'subPath' in mount), 'such a mount never changes');
    assert.equal(objects.get('ConfigMap').metadata.name, spec.volumes[0].configMap.name);
  });

  it('kubernetes: meets the Pod Security Standard “restricted”', () => {
    const { runAsNonRoot, runAsUser, seccompProfile } = spec.securityContext;
    assert.deepEqual([runAsNonRoot, runAsUser, seccompProfile.type], [true, 1000, 'RuntimeDefault']);
    const { allowPrivilegeEscalation, readOnlyRootFilesystem, capabilities } = gateway.securityContext;
    assert.deepEqual([allowPrivilegeEscalation, readOnlyRootFilesystem, capabilities.drop], [false, true, ['ALL']]);
  });

  it('kubernetes: the time to end is longer than what precedes it', () => {
    const drain = Number(gateway.args[gateway.args.indexOf('--drain') + 1]);
    const before = Number(gateway.lifecycle.preStop.exec.command[1]);
    assert.ok(spec.terminationGracePeriodSeconds > drain + before);
  });

  it('kubernetes: the configuration is valid, and its options are those of svc serve', async () => {
    using folder = new ProjectFolder();
    const text: string = objects.get('ConfigMap').data['svc.jsonc'];
    folder.write('secrets/pgpassword', 'pw');
    folder.write('secrets/anthropic', 'sk-ant');
    folder.global(JSON.parse(text.replaceAll('/secrets/', `${folder.root}/secrets/`)));
    const { code, err } = await svc(folder, ['config']);
    assert.deepEqual([code, err], [0, '']);
    const [command, ...options] = gateway.args;
    assert.equal(command, 'serve');
    const help = (await svc(folder, ['serve', '--help'])).out;
    for (const option of options) if (option.startsWith('--')) assert.ok(help.includes(option), option);
  });

  it('kubernetes-monitoring: selects the service, its port and its labels', () => {
    const { selector, endpoints } = objectsOf(readDeployed('kubernetes-monitoring.yaml'), {
      ServiceMonitor,
    }).get('ServiceMonitor').spec;
    const service = objects.get('Service');
    assert.deepEqual(selector.matchLabels, service.metadata.labels);
    assert.equal(endpoints[0].port, service.spec.ports[0].name);
  });
});
