import type { AnchorHTMLAttributes, ReactNode } from 'react';
import { paths as addresses } from '../contract/addresses.ts';

// Replaces `shared/runtime` during prerendering: links without a router, no live data.
export { endpoints } from '../contract/addresses';

/** The server fills in these tokens, like those of a response. */
export const hostConfig = () => ({
  brand: { name: 'lz-brand.name-lz', seal: 'lz-brand.seal-lz', slogan: 'lz-brand.slogan-lz' },
});

interface LinkProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  to: string;
  replace?: boolean;
  children: ReactNode;
}

export const Link = ({ to, replace: _, ...rest }: LinkProps) => <a href={to} {...rest} />;

/** Tokens in a URL are encoded when they are filled in. */
const inAddress = (token: string) => token.replace(/^lz-/, 'lzu-');

export const paths = {
  ...addresses,
  story: (id: string) => addresses.story(inAddress(id)),
  storyChat: (id: string) => addresses.storyChat(inAddress(id)),
};
