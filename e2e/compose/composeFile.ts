import { readFileSync } from 'node:fs';
import { load } from 'js-yaml';

type Condition = 'service_started' | 'service_healthy' | 'service_completed_successfully';

/** The fields of a service that are used here. */
export interface Service {
  command: string[];
  working_dir?: string;
  environment?: Record<string, string>;
  volumes?: string[];
  configs?: { source: string; target: string }[];
  depends_on?: Record<string, { condition: Condition }>;
  healthcheck?: { test: string[] };
  restart?: string;
}

export interface ComposeFile {
  services: Record<string, Service>;
  configs: Record<string, { content: string }>;
}

/** Substitutes `${NAME:-default}` and `${NAME:?why}` as Compose does; `$$` becomes `$`. Throws for a missing required variable. */
function filled(text: string, variables: Record<string, string>): string {
  return text.replace(/\$\$|\$\{(\w+)(?::([-?])([^}]*))?\}/g, (all, name: string | undefined, sign, rest: string) => {
    if (name === undefined) return all === '$$' ? '$' : all;
    const value = variables[name];
    if (value) return value;
    if (sign === '?') throw new Error(`${name} must be set: ${rest}`);
    return rest ?? '';
  });
}

function fillAll(value: unknown, variables: Record<string, string>): unknown {
  if (typeof value === 'string') return filled(value, variables);
  if (Array.isArray(value)) return value.map((item) => fillAll(item, variables));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fillAll(item, variables)]));
}

/** Resolves YAML 1.1 merge keys (`<<: *name`), which Compose supports. */
function merged(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(merged);
  if (typeof value !== 'object' || value === null) return value;
  const { '<<': base, ...own } = value as Record<string, unknown>;
  const inherited = typeof base === 'object' && base !== null ? merged(base) : {};
  return {
    ...(inherited as object),
    ...Object.fromEntries(Object.entries(own).map(([key, item]) => [key, merged(item)])),
  };
}

/** Reads a compose file, with these variables instead of the shell's. */
export function readComposeFile(path: string, variables: Record<string, string>): ComposeFile {
  const { services, configs } = merged(load(readFileSync(path, 'utf8'))) as ComposeFile;
  return fillAll({ services, configs }, variables) as ComposeFile;
}
