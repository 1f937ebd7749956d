// Makes a drawing small without changing what it shows: `npx svgo@4.1.0 --config backend/content/svgo.config.cjs <file>`.
module.exports = {
  multipass: true,
  // opacities and gradients lose their tints with less
  floatPrecision: 3,
  plugins: [
    {
      name: 'preset-default',
      params: {
        overrides: {
          // the server reads a cover's ground from its first rectangle
          convertShapeToPath: false,
          convertPathData: { floatPrecision: 1 },
          removeUnknownsAndDefaults: { keepAriaAttrs: true, keepRoleAttr: true },
        },
      },
    },
  ],
};
