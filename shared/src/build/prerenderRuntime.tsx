import type { AnchorHTMLAttributes, ReactNode } from 'react';
import { paths as addresses } from '../contract/addresses.ts';

// Replaces shared/runtime while markup is prerendered at build time: links without a router, nothing live.
export { endpoints } from '../contract/addresses';

/** The server fills these in, as it does with what an answer has. */
export const hostConfig = () => ({
  brand: { name: 'lz-brand.name-lz', seal: 'lz-brand.seal-lz', slogan: 'lz-brand.slogan-lz' },
});

interface LinkProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  to: string;
  replace?: boolean;
  children: ReactNode;
}

export const Link = ({ to, replace: _, ...rest }: LinkProps) => <a href={to} {...rest} />;

/** Tokens in an address are encoded when they are filled. */
const inAddress = (token: string) => token.replace(/^lz-/, 'lzu-');

export const paths = {
  ...addresses,
  story: (id: string) => addresses.story(inAddress(id)),
  storyChat: (id: string) => addresses.storyChat(inAddress(id)),
};
