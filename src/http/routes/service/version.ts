import * as Type from 'typebox/type';
import { programVersion } from '../../../shared/process/program-version.ts';
import { operation } from '../../operation.ts';

export const ServiceVersion = Type.Object({ name: Type.String(), version: Type.String() });

export const version = operation({
  operationId: 'version',
  method: 'GET',
  path: '/version',
  tag: 'Service',
  summary: 'Version',
  description: 'The name and the version of the service.',
  token: 'none',
  responses: {
    200: {
      description: 'The version.',
      schema: ServiceVersion,
      examples: { version: { value: { name: 'sharedraft', version: '0.2.0' } } },
    },
  },
  async handle() {
    return { status: 200, body: { name: 'sharedraft', version: programVersion } };
  },
});
