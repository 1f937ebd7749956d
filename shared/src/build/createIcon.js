import { createElement } from 'react';

const isNamed = (props) => Object.keys(props).some((name) => /^(aria-|role$|title$)/.test(name));

/**
 * Replaces lucide-react's `createLucideIcon` in this repository's builds (`pluginIcons`). Same markup without context, aliases and
 * other frameworks' attribute names: 1 KiB (Brotli) less in the host and in each page of a remote.
 */
export default function createIcon({ name, node }) {
  return ({ size = 24, className = '', ...rest }) =>
    createElement(
      'svg',
      {
        xmlns: 'http://www.w3.org/2000/svg',
        width: size,
        height: size,
        viewBox: '0 0 24 24',
        fill: 'none',
        stroke: 'currentColor',
        strokeWidth: 2,
        strokeLinecap: 'round',
        strokeLinejoin: 'round',
        className: `lucide lucide-${name} ${className}`.trim(),
        'aria-hidden': isNamed(rest) ? undefined : true,
        ...rest,
      },
      ...node.map(([tag, attributes]) => createElement(tag, attributes)),
    );
}
