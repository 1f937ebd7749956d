import type { AnchorHTMLAttributes, ReactNode } from 'react';

// Replaces shared/runtime while markup is prerendered at build time: links without a router, nothing live.
export { endpoints } from '../contract/addresses';

interface LinkProps extends AnchorHTMLAttributes<HTMLAnchorElement> {
  to: string;
  replace?: boolean;
  children: ReactNode;
}

export const Link = ({ to, replace: _, ...rest }: LinkProps) => <a href={to} {...rest} />;

/** Tokens in an address are encoded when they are filled. */
const inAddress = (token: string) => token.replace(/^lz-/, 'lzu-');

export const paths = {
  explore: () => '/explore',
  story: (id: string) => `/story/${inAddress(id)}`,
  conversations: () => '/conversations',
  my: () => '/my',
};
