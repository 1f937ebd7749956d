import {
  array,
  fallback,
  type InferOutput,
  nullable,
  number,
  object,
  optional,
  parse,
  record,
  string,
  unknown,
} from 'valibot';

const rechargePackage = object({ id: string(), points: number(), priceCents: number(), label: optional(string()) });

const schema = object({
  rechargePackages: fallback(array(rechargePackage), []),
  /** null while no payment is possible; the checkout is told `package` and `user` in its query */
  paymentProvider: fallback(nullable(object({ name: string(), checkoutUrl: string() })), null),
  support: fallback(object({ email: optional(string()), hours: optional(string()), wechat: optional(string()) }), {}),
  realtime: fallback(
    object({ key: string(), host: optional(string()), port: optional(number()), channel: optional(string()) }),
    { key: '{key}' },
  ),
  rules: fallback(record(string(), unknown()), {}),
});

export type HostConfig = InferOutput<typeof schema>;

const read = (): HostConfig => {
  const text = document.getElementById('liaozhai-config')?.textContent;
  return parse(schema, text ? JSON.parse(text) : {});
};

let config: HostConfig | undefined;

/** The site's configuration, inlined in the page as `liaozhai-config`; whatever is missing or wrong has a harmless default. */
export function hostConfig(): HostConfig {
  config ??= read();
  return config;
}
